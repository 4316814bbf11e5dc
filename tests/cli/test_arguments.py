"""The options of `tengbc run` are the fields of `Options`, each stated once."""

from typing import Annotated, Literal

import pytest
import typer
from pydantic import Field
from typer.testing import CliRunner

from tengbc.cli.app import app
from tengbc.cli.arguments import with_options
from tengbc.errors import UsageError
from tengbc.options import Options


def test_every_option_is_on_the_command_line_and_described():
    shown = " ".join(CliRunner().invoke(app, ["run", "--help"]).output.split())
    for name, field in Options.model_fields.items():
        assert f"--{name.replace('_', '-')} " in shown
        assert field.description and field.description in shown
    assert "--activation tanh|sin|gaussian|softplus|swish Activation" in shown
    assert "Waves per coordinate that a network on a periodic box sees. Default 20." in shown


def test_options_reach_the_run():
    line = "--activation sin --embedding-size 7 --first-iterations 3 --first-subset 9 --widths 8,9"
    done = CliRunner().invoke(app, ["run", "heat-robin", "--print-config", *line.split()])
    assert done.exit_code == 0
    given = ('activation = "sin"', "embedding_size = 7", "first_iterations = 3", "first_subset = 9")
    assert {*given, "widths = [8, 9]"} <= set(done.output.splitlines())


class More(Options):
    """Options with one more, as they may be some day."""

    flavour: Literal["sweet", "sour"] | None = Field(None, description="A matter of taste.")
    sizes: tuple[int, ...] | None = Field(None, description="Sizes, such as 1,2.")


def test_a_new_field_is_a_new_option():
    got = {}

    @with_options(More)
    def command(
        problem: Annotated[str, typer.Argument()], quiet: bool = False, **options: object
    ) -> None:
        got.update(options, problem=problem, quiet=quiet)

    new = typer.Typer()
    new.command()(command)
    done = CliRunner().invoke(new, ["it", "--flavour", "sour", "--sizes", "3,4", "--quiet"])
    assert done.exit_code == 0, done.output
    assert got.pop("problem") == "it" and got.pop("quiet") is True
    assert got.pop("flavour") == "sour" and got.pop("sizes") == (3, 4)
    assert got == dict.fromkeys(Options.model_fields)
    failed = CliRunner().invoke(new, ["it", "--sizes", "3,x"])
    assert isinstance(failed.exception, UsageError)
    with pytest.raises(UsageError, match="sizes is '3,x', but it should be whole numbers"):
        raise failed.exception
