"""How commands end: exit statuses, and one line on stderr for each mistake."""

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..optional_packages import lacking, missing_package
from ..text import printable

if TYPE_CHECKING:
    from ..claims.claim import Claim
    from ..targets import Target


def open_or_fail(target: str | None, claim: "Claim") -> "Target":
    """The target by its spec, the reference without one; ends the command where that fails."""
    from ...reference.clock import OutOfTime
    from ..claims.open_target import open_claimed, open_reference
    from ..findings.verdict import Verdict
    from ..targets import TargetError

    try:
        return open_reference(claim) if target is None else open_claimed(target, claim)
    except TargetError as error:
        fail(error)
    except OutOfTime as end:
        fail(
            f"{end}: the target was not ready by then",
            status=Verdict.INCONCLUSIVE.exit_status,
            code="out-of-time",
        )


@contextmanager
def asking(what: str) -> Iterator[None]:
    """A block that asks a target for `what`, in words; ends the command where it fails."""
    from ...reference import BudgetExhausted
    from ..targets import Refused, TargetError

    try:
        yield
    except (TargetError, ValueError) as error:
        fail(error)
    except Refused as refusal:
        fail(f"the target refuses {what}: {refusal}", code="input-refused")
    except BudgetExhausted:
        fail("the target's own budget was exhausted", code="budget-exhausted")


MISUSE = 2


class CommandFailed(SystemExit):
    """The end of a command that cannot do what it was asked; lines: why, as stderr has them."""

    def __init__(self, status: int, lines: list[str]) -> None:
        super().__init__(status)
        self.lines = lines


def fail(
    why: str | Exception, *, code: str | None = "options-do-not-fit", status: int = MISUSE
) -> NoReturn:
    """Ends the program with `status`, after printing why on stderr, with its code in brackets.

    why: an error, which may bring several lines and a code for each, or one line, whose code is
    `code`: None for the end of a command that was given nothing wrong.
    """
    if isinstance(why, str):
        lines = [why if code is None else f"{why} [{code}]"]
    else:
        from ..inputs.input_error import lines_of

        lines = list(lines_of(why))
    with contextlib.suppress(OSError):  # where stderr is broken too, only the status is left
        for line in lines:
            click.echo(f"dpassay: {printable(line)}", err=True)
    raise CommandFailed(status, lines)


def need(what: str, *modules: str) -> None:
    """Ends the program with one line if a module that `what` needs is missing; imports none."""
    absent = lacking(what, *modules)
    if absent is not None:
        fail(absent, code="package-missing")


@contextmanager
def on_stdout(kept: str | None = None) -> Iterator[None]:
    """A block that only prints: if the reader of stdout has gone, the exit status is kept.

    kept: where else the result was written. If stdout cannot be written, the program prints one
    line on stderr and keeps its status; without `kept` the result is lost, and the status is 2.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        forget_stdout()
        line = f"stdout cannot be written: {error.strerror or error}"
        if kept is None:
            fail(f"{line}; what was found is lost", code="file-not-written")
        with contextlib.suppress(OSError):
            click.echo(f"dpassay: {printable(line)}; what was found is in {kept}", err=True)


def _stdout_is_broken() -> bool:
    """Whether stdout cannot be written: an earlier OSError may have come from it."""
    try:
        sys.stdout.flush()
        os.write(sys.stdout.fileno(), b"\n")
    except OSError:
        return True
    return False


def forget_stdout() -> None:
    """Points stdout at nothing, as flushing a broken one at exit would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_stdout() -> None:
    """Replaces a closed stdout by one that cannot be written, so that lost output is an error.

    This also keeps its descriptor, which the next opened file would take.
    """
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: SIM115 - for good


def _code_of(error: click.ClickException) -> str:
    """The code of a command line that click refuses: a value of an option, or an option."""
    of_value = isinstance(error, click.BadParameter)
    wrong = of_value and not isinstance(error, click.MissingParameter)
    return "value-not-allowed" if wrong else "option-not-allowed"


def run_commands(commands: click.Command) -> NoReturn:
    """Runs the command line; errors are one line each, and never the status of a failed check."""
    _open_stdout()
    try:
        status = commands.main(prog_name="dpassay", standalone_mode=False)
        with on_stdout():
            sys.stdout.flush()
        sys.exit(status)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(MISUSE)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        where = f" (see {context.command_path} --help)" if context is not None else ""
        message = " ".join(error.format_message().split())  # click puts choices on separate lines
        fail(f"{message.rstrip('.')}{where}", code=_code_of(error))
    except (click.Abort, KeyboardInterrupt):
        fail("interrupted", code=None)
    except BrokenPipeError:
        forget_stdout()
        sys.exit(MISUSE)
    except Exception as error:
        fail_by(error)


def fail_by(error: Exception) -> NoReturn:
    """Ends the program by an error that no command foresaw."""
    if isinstance(error, ModuleNotFoundError) and (package := missing_package(error)):
        needed = f"this needs {package}, which is not installed: pip install {package}"
        fail(needed, code="package-missing")
    if isinstance(error, OSError) and error.filename is None and _stdout_is_broken():
        with on_stdout():
            raise error
    with contextlib.suppress(OSError):
        traceback.print_exception(error)
    line = f"a fault of dpassay itself, please report it: {type(error).__name__}: {error}"
    fail(line, code=None)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout."
)


def print_found(found: Any, as_json: bool) -> None:
    """Prints what a command has found, a document that has `as_text`, on stdout."""
    with on_stdout():
        print(json.dumps(found.public()) if as_json else found.as_text())


def print_and_exit(found: Any, as_json: bool) -> NoReturn:
    """Prints what a command has found, and ends it with the status of its verdict."""
    print_found(found, as_json)
    sys.exit(found.verdict.exit_status)
