"""The application object, its entry point, and what every command shares."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from functools import cache
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command

from .. import __version__
from ..reporting.output import put
from .examples import epilog

if TYPE_CHECKING:
    from ..engine.base.errors import HebbariumError

INTERRUPTED = "interrupted"
ORDER = ("list", "show", "run", "ablate", "compose", "calibrate", "compare", "pool", "explain", "questions", "reproduce",
         "topology", "export", "score", "assemble", "event", "answer",
         "audit", "weights", "probe", "world", "human", "cite", "data", "import", "memory", "serve", "hook", "doctor", "new", "warm")  # fmt: skip


METAVARS = {        # what help prints for the value of an option or argument that names none itself
    "--set": "SET", "--base": "SET", "--dataset": "NAME", "--data": "PATH", "--out": "DIR",
    "--work": "DIR", "--to": "DIR", "--into": "DIR",
    "--embedder": "NAME", "--seed": "N", "--seeds": "N", "--limit": "N", "--skip": "N",
    "--jobs": "N", "--retries": "N", "--items": "N",
    "--votes": "N", "--sample": "N", "--margin": "X", "--threshold": "P", "--without": "MECHANISM",
    "--param": "ID.NAME=VALUE", "--arm": "ARM",
    "--rating": "RATING", "--words": "WORDS", "--query": "TEXT", "--session": "ID",
    "--against": "FILE",
    "name": "NAME", "only": "MECHANISM", "question": "QUESTION", "row": "ROW", "path": "PATH",
    "dataset": "DATASET"}  # fmt: skip
WORDS_OF_OPTIONS = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"^Value error, ", ""),
        (r"^Input should be a valid integer\b.*", "this is not a whole number"),
        (r"^Input should be a valid (?:number|decimal)\b.*", "this is not a number"),
        (r"^Input should be greater than or equal to (\S+)", r"this must be \1 or more"),
        (r"^Input should be less than or equal to (\S+)", r"this must be \1 or less"),
        (r"^Input should be ", "this must be "),
    )
)  # typer hands on the words of pydantic


def in_plain_words(message: str) -> str:
    """What is wrong with the value of an option, without the words of the library that reads it.

    >>> in_plain_words("Value error, 'x' is not one of 'a', 'b'."), in_plain_words("Input should be greater than or equal to 1")
    ("'x' is not one of 'a', 'b'.", 'this must be 1 or more')
    """
    for pattern, plain in WORDS_OF_OPTIONS:
        message = pattern.sub(plain, message)
    return message


def show_name_only(argument: Any) -> None:
    """Help prints RUN for a required argument in place of {RUN}, and no Python type such as
    <list[str]> behind the name of any.
    """
    name = argument.metavar or argument.name.upper()
    usage = (name if argument.required else f"[{name}]") + ("..." if argument.nargs != 1 else "")
    argument.get_usage_pieces = lambda ctx: [usage]
    argument.display_type_rich = lambda ctx: ""


class Commands(TyperGroup):
    """The commands in the order in which a user meets them; interrupting one ends it with a
    message and exit code 130.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(
            super().list_commands(ctx),
            key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER),
        )

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        chosen = super().get_command(ctx, cmd_name)
        inside = getattr(chosen, "commands", {})
        names = {cmd_name: chosen, **{f"{cmd_name} {name}": c for name, c in inside.items()}}
        for name, command in names.items():
            if command is not None:
                command.epilog = epilog(name) or command.epilog
            for parameter in getattr(command, "params", ()):
                if parameter.metavar is None and not getattr(parameter, "is_flag", False):
                    parameter.metavar = METAVARS.get(parameter.opts[0])
                if getattr(parameter, "param_type_name", "") == "argument":
                    show_name_only(parameter)
        return chosen

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say(
                f"\n{INTERRUPTED}: every file that was written is complete; the same command starts again"
            )
            raise typer.Exit(130) from None
        except typer.BadParameter as error:
            error.message = in_plain_words(error.message)
            raise


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A laboratory of memory mechanisms: is each one faithful, alive, useful?",
)


@cache
def command_line() -> Any:
    """The commands, built once in a process: that takes 20 ms."""
    return get_command(app)


def main() -> None:
    """Entry point: errors of ours become a message and an exit code, 2 or 3 if cells failed,
    never a traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    from ..engine.base.errors import HebbariumError
    from ..reporting.workers import collect_seldom

    collect_seldom()
    try:
        try:
            command_line()(prog_name="hebbarium")
        finally:
            sys.stdout.flush()
    except HebbariumError as error:
        _fail(str(error), error.exit_code)
    except (
        TypeError,
        ValueError,
    ):  # libraries read the entry points of all distributions, and stop at damaged ones
        from ..engine.catalogue.packages import usable

        if not (broken := usable()[1]):
            raise
        _fail(str(broken[0]))
    except BrokenPipeError:
        _drop_output()
        raise SystemExit(1) from None
    except OSError as error:  # such as a full disk under the standard output
        _drop_output()
        _fail(str(from_system(error)))


def from_system(error: OSError) -> HebbariumError:
    """An error of the operating system, such as a full disk or a folder without permission, with
    what, where and cure.
    """
    from ..engine.base.errors import HebbariumError

    return HebbariumError(
        error.strerror or str(error),
        where=str(error.filename or "output"),
        cure="free disk space, or check that the place can be written to",
    )


def say(text: str) -> None:
    """Print a message on standard error; on a terminal, long lines are broken between words."""
    if sys.stderr.isatty():
        from ..console import wrapped

        text = wrapped(text, get_terminal_size().columns, "    ")
    put(text, err=True)


def _fail(message: str, code: int = 2) -> NoReturn:
    say(f"error: {message}")
    raise SystemExit(code) from None


def _drop_output() -> None:
    """Discard what is still buffered for the standard output, so that Python does not fail again
    when it ends.
    """
    with suppress(OSError, ValueError):  # a replaced stream, as in tests, has no file number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(asked: bool) -> None:
    if asked:
        put(f"hebbarium {__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option(
        "--version", callback=_print_version, is_eager=True, help="Print the version and end."
    ),
]


@app.callback()
def common(version: VersionOption = False) -> None:
    """A laboratory of memory mechanisms: is each one faithful, alive, useful?"""
