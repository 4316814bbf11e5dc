"""Where a run goes on from."""

from __future__ import annotations

from collections.abc import Callable

from tengbc.errors import CheckpointError
from tengbc.runs.checkpoints import Checkpoint, set_aside
from tengbc.runs.config import Config
from tengbc.runs.directory import RunDirectory
from tengbc.runs.identity import differences, threads, versions


def newest_checkpoint(
    directory: RunDirectory, chosen: Config, warn: Callable[[str], None]
) -> Checkpoint | None:
    """Where to go on from; None if the run has not come to its first checkpoint."""
    checkpoint, wrong = directory.checkpoints.newest()
    for sentence in wrong.values():
        directory.log(sentence)
    if checkpoint is None:
        if wrong:
            raise CheckpointError(
                f"No checkpoint in {directory.path} is whole and of tengbc's making "
                f"({len(wrong)} looked at), so the run cannot go on; remove the directory and start "
                f"again."
            )
        return None
    for sentence in wrong.values():
        warn(sentence)
    if checkpoint.about.get("options") != chosen.hash:
        raise CheckpointError(
            f"The checkpoints in {directory.path} belong to other options or to another text of "
            f"the problem's file; put these back as they were, or start a new run."
        )
    for path in wrong:
        set_aside(path)
    changed = [
        *differences(checkpoint.about.get("versions", {}), versions()),
        *differences(checkpoint.about.get("threads", {}), threads()),
    ]
    if changed:
        warn(
            f"since the last session {', '.join(changed)}: the result may differ from that of an "
            f"undisturbed run in its last digits."
        )
    return checkpoint
