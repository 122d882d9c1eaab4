"""How a command ends that cannot do what it was asked: one line on stderr for each mistake."""

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
    """Ends the program with the status of misuse, or another; whoever wrote the messages."""
    with contextlib.suppress(OSError):  # stderr is broken too: the status is what is left
        for message in messages:
            click.echo(f"dpassay: {printable(message)}", err=True)
    sys.exit(status)


def need(what: str, *modules: str) -> None:
    """Ends the program in one line where a module that `what` needs is absent; imports none."""
    absent = lacking(what, *modules)
    if absent is not None:
        fail(absent)


def lines_of(error: Exception) -> tuple[str, ...]:
    """What an error says, in lines: of a claim, every mistake."""
    mistakes: tuple[str, ...] = getattr(error, "mistakes", (str(error),))
    return mistakes


@contextmanager
def on_stdout(kept: str | None = None) -> Iterator[None]:
    """For printing, and nothing else: a reader of stdout that has gone leaves the status.

    kept: where the result stands as well. Then a stdout that cannot be written is one line on
    stderr, and the status stays; without, the result is lost, and the program ends with status 2.
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
    """Whether stdout cannot be written, after an error that may have come from it or not."""
    try:
        sys.stdout.flush()
        os.write(sys.stdout.fileno(), b"\n")
    except OSError:
        return True
    return False


def forget_stdout() -> None:
    """The reader is gone, or nothing can be written: flushing at exit would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_stdout() -> None:
    """A stdout that was closed becomes one that cannot be written: Python would drop all output.

    It also keeps its number, which the next file opened would get.
    """
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: SIM115 - for good


def run_commands(commands: click.Command) -> NoReturn:
    """Runs the command line: what goes wrong is one line, and never the status of a fail."""
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
        said = " ".join(error.format_message().split())  # choices stand on lines of their own
        fail(f"{said.rstrip('.')}{where}")
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
