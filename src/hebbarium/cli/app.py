"""The application object, its entry point, and what every command shares."""
from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from .. import __version__

if TYPE_CHECKING:
    from ..engine.errors import HebbariumError

INTERRUPTED = "interrupted"
ORDER = ("list", "show", "run", "ablate", "calibrate", "compare", "explain", "reproduce", "topology", "export", "assemble", "event", "answer",
         "audit", "weights", "probe", "world", "cite", "data", "new")


class Commands(TyperGroup):
    """The commands in the order in which a user meets them; interrupting one ends it with a message and exit code 130."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo(f"\n{INTERRUPTED}: every file that was written is complete; the same command starts again", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False, rich_markup_mode=None,
                  context_settings={"help_option_names": ["-h", "--help"]},
                  help="A laboratory of memory mechanisms: is each one faithful, alive, useful?")


def main() -> None:
    """Entry point: errors of ours become a message and an exit code, 2 or 3 if cells failed, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    from ..engine.errors import HebbariumError

    try:
        try:
            app(prog_name="hebbarium")
        finally:
            sys.stdout.flush()
    except HebbariumError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:
        _drop_output()
        raise SystemExit(1) from None
    except OSError as error:        # such as a full disk under the standard output
        _drop_output()
        _fail(str(from_system(error)))


def from_system(error: OSError) -> HebbariumError:
    """An error of the operating system, such as a full disk or a folder without permission, with what, where and cure."""
    from ..engine.errors import HebbariumError

    return HebbariumError(error.strerror or str(error), where=str(error.filename or "output"),
                          cure="free disk space, or check that the place can be written to")


def _fail(message: str, code: int = 2) -> NoReturn:
    from ..reporting.text import visible

    typer.echo("error: " + visible(message, keep="\n"), err=True)
    raise SystemExit(code) from None


def _drop_output() -> None:
    """Discard what is still buffered for the standard output, so that Python does not fail again when it ends."""
    with suppress(OSError, ValueError):         # a replaced stream, as in tests, has no file number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"hebbarium {__version__}")
        raise typer.Exit


VersionOption = Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")]


@app.callback()
def common(version: VersionOption = False) -> None:
    """A laboratory of memory mechanisms: is each one faithful, alive, useful?"""
