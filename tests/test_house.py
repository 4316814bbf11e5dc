"""Facts about the package as a whole, measured by reading its source."""

import ast
import inspect
from collections import Counter
from pathlib import Path

import tengbc
from tengbc import conditions, options, schemes

SOURCE = Path(tengbc.__file__).parent
TREES = {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}
MOST_FILES = 283
"""225 when the engine was rebuilt; since then patches, jumps, reduced spaces, traced programs,
progress in Python and hp elements came in, then data that are not traced, balances, numbers from
measurements, free segments, the commands new and doctor, and conjugate gradients; then problems
named with numbers, and sweeps: their study, processes, table and page; names of components, one
component of a solution, and tables of initial values; numbers whose squares vanish;
regions: their geometry, equations, contact and patches, and diffusion in divergence form;
factors of dense blocks along nested dissection, convex solids, polyhedra and the cells they cut;
rows in blocks on several devices (blocks, tall least squares, their collocation and space) and the
processes that share them."""


def concrete(package, base):
    """The names of the classes of a package that can be instantiated."""
    found = (member for member in vars(package).values() if inspect.isclass(member))
    return {each.__name__ for each in found if issubclass(each, base) and each is not base}


def names_asked_for(call):
    """Every name in the second argument of isinstance(…, …)."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(call.args[1])
        if isinstance(node, ast.Name | ast.Attribute)
    }


def instance_checks(tree, names):
    """Lines of a file on which `isinstance` asks for one of the names."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and names_asked_for(node) & names
    ]


def test_files_are_few():
    assert len(TREES) <= MOST_FILES


def test_no_class_name_has_two_meanings():
    nodes = (node for tree in TREES.values() for node in ast.walk(tree))
    counts = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert [name for name, count in counts.items() if count > 1] == []


def test_schemes_and_conditions_are_asked_what_they_can_do_not_what_they_are():
    kinds = {
        "schemes": concrete(schemes, schemes.AbstractScheme),
        "conditions": concrete(conditions, conditions.AbstractCondition),
    }
    assert {"RungeKutta", "RadauIIA"} <= kinds["schemes"] and "Robin" in kinds["conditions"]
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for folder, names in kinds.items()
        for path, tree in TREES.items()
        if path.relative_to(SOURCE).parts[0] != folder
        for line in instance_checks(tree, names)
    ]
    assert found == []


def test_instance_checks_are_seen():
    """The silence of the test above counts only if it can speak."""
    tree = ast.parse("a\nisinstance(x, int | schemes.RungeKutta)\nisinstance(x, (Robin, str))")
    assert instance_checks(tree, {"RungeKutta", "Robin"}) == [2, 3]


def test_every_scheme_of_the_options_exists():
    assert set(options.SCHEMES) <= set(schemes.SCHEMES)
