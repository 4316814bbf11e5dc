"""Problems by their address, with numbers: taken apart as text, and made as their file says."""

import pytest

import tengbc as tb
from tengbc.runs.address import Address, address, arguments, check, load
from tengbc.runs.config import config, read_config, to_toml
from tests.sweeps.cases import FILE


@pytest.mark.parametrize(
    ("text", "name", "path", "numbers"),
    [
        ("heat-robin", "heat-robin", None, {}),
        ("mine.py:plate", "plate", "mine.py", {}),
        ("a b/mine.py:plate(kappa=0.1, h=5)", "plate", "a b/mine.py", {"kappa": 0.1, "h": 5}),
        ("(1)/mine.py:plate", "plate", "(1)/mine.py", {}),
        ("(1)/mine.py:plate( a = -1e-3 ,)", "plate", "(1)/mine.py", {"a": -0.001}),
        ("mine.py:plate()", "plate", "mine.py", {}),
        ("heat-robin(kappa=2)", "heat-robin", None, {"kappa": 2}),
    ],
)
def test_an_address_is_read_and_written(text, name, path, numbers):
    where = address(text)
    assert (where.name, where.numbers) == (name, numbers)
    assert (None if where.path is None else str(where.path)) == path
    assert all(type(where.numbers[key]) is type(value) for key, value in numbers.items())
    assert address(str(where)) == where


@pytest.mark.parametrize("numbers", ["1", "a=", "a=x", "a=nan", "a=1,a=2", "1a=2", "a=1e999"])
def test_what_is_no_number_is_refused(numbers):
    with pytest.raises(tb.UsageError, match=r"write the problem's numbers like \(kappa=0.1, h=5\)"):
        address(f"mine.py:plate({numbers})")


def test_code_is_text_and_not_run():
    with pytest.raises(tb.UsageError, match="is not a Python name"):
        check(address(f"{FILE}:rod(kappa=__import__('os').getpid())"))


def test_the_function_gets_the_numbers():
    problem = load(address(f"{FILE}:rod(kappa=0.25, size=3)"))
    assert problem.equation.kappa.value == 0.25 and problem.initial([0.0]) == 3
    assert problem.name == "rods" and arguments(address(f"{FILE}:rod")) == ("kappa", "size")
    assert load(Address("heat-robin")).name == "heat-robin"


def test_numbers_that_are_not_taken_are_refused():
    with pytest.raises(tb.UsageError, match=r"'rod' in .* takes no number 'h'; choose one of"):
        load(address(f"{FILE}:rod(h=5)"))
    with pytest.raises(tb.UsageError, match="is a Problem, which takes no numbers"):
        load(address(f"{FILE}:made(h=5)"))
    with pytest.raises(tb.UsageError, match="heat-robin takes no number 'kappa'; it takes none"):
        load(address("heat-robin(kappa=2)"))
    with pytest.raises(tb.UsageError, match="needs a number 'kind'; write trouble"):
        load(address(f"{FILE}:trouble"))


def test_a_run_is_known_by_its_numbers(tmp_path):
    first, second, same = (
        config({"problem": f"{FILE}:rod({numbers})"})
        for numbers in ("kappa=0.1", "kappa=0.2", " kappa = 1e-1 ")
    )
    assert first.hash != second.hash and first.hash == same.hash
    (tmp_path / "options.toml").write_text(to_toml(first))
    again = config(read_config(tmp_path / "options.toml"))
    assert again.problem == f"{FILE}:rod(kappa=0.1)" and again.hash == first.hash
