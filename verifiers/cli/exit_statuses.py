"""How commands end: exit statuses, and one line on stderr for each mistake."""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from ..optional_packages import lacking, missing_package
from ..text import printable

MISUSE = 2


def fail(*messages: str, status: int = MISUSE) -> NoReturn:
    """Ends the program with `status`, after printing the messages on stderr, made printable."""
    with contextlib.suppress(OSError):  # where stderr is broken too, only the status is left
        for message in messages:
            click.echo(f"dpassay: {printable(message)}", err=True)
    sys.exit(status)


def need(what: str, *modules: str) -> None:
    """Ends the program with one line if a module that `what` needs is missing; imports none."""
    absent = lacking(what, *modules)
    if absent is not None:
        fail(absent)


def lines_of(error: Exception) -> tuple[str, ...]:
    """The message of an error in lines: for a claim, one per mistake."""
    mistakes: tuple[str, ...] = getattr(error, "mistakes", (str(error),))
    return mistakes


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
            fail(f"{line}; what was found is lost")
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
        fail(f"{message.rstrip('.')}{where}")
    except (click.Abort, KeyboardInterrupt):
        fail("interrupted")
    except BrokenPipeError:
        forget_stdout()
        sys.exit(MISUSE)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (package := missing_package(error)):
            fail(f"this needs {package}, which is not installed: pip install {package}")
        if isinstance(error, OSError) and error.filename is None and _stdout_is_broken():
            with on_stdout():
                raise error
        with contextlib.suppress(OSError):
            traceback.print_exc()
        fail(f"a fault of dpassay itself, please report it: {type(error).__name__}: {error}")
