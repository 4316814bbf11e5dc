"""What may happen on any input: success, or an error of ours, soon and within bounds."""

import resource
import sys
import time

from tengbc.errors import TengbcError

FORBIDDEN = (
    "exec",
    "compile",
    "pickle.find_class",
    "os.system",
    "subprocess.Popen",
    "marshal.loads",
)
SEEN: list[str] = []
WATCHING = [False]


def _hook(event, arguments):
    if not WATCHING[0]:
        return
    # Python's own and our packages may be loaded late; a name out of a file is none of them.
    foreign = event == "import" and arguments[0].partition(".")[0] not in sys.modules
    if event in FORBIDDEN or foreign:
        SEEN.append(event)


sys.addaudithook(_hook)


def bounded(function, *arguments):
    """Success or an error of ours (then None), in two seconds and 512 MB."""
    began, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        result = function(*arguments)
    except TengbcError as error:
        result = None
        assert str(error) and "\n" not in str(error)
    assert time.process_time() - began < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 512 * 1024
    return result


def allowed(function, *arguments):
    """The same for what reads a file: it must not run any code either."""
    SEEN.clear()
    WATCHING[0] = True
    try:
        result = bounded(function, *arguments)
    finally:
        WATCHING[0] = False
    assert not SEEN
    return result
