"""How a command ends that cannot do what it was asked: one line on stderr."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from .printable import printable

MISUSE = 2


def fail(message: str, status: int = MISUSE) -> NoReturn:
    """Ends the program with the status of misuse, or another; whoever wrote the message."""
    click.echo(f"dpassay: {printable(message)}", err=True)
    sys.exit(status)


@contextmanager
def on_stdout() -> Iterator[None]:
    """For what is printed last: a reader of stdout that has gone changes nothing of the status."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()


def _forget_stdout() -> None:
    """The reader is gone, and flushing at exit would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run_commands(commands: click.Command) -> NoReturn:
    """Runs the command line: what goes wrong is one line, and never the status of a fail."""
    try:
        sys.exit(commands.main(prog_name="dpassay", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(MISUSE)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        where = f" (see {context.command_path} --help)" if context is not None else ""
        fail(f"{error.format_message().rstrip('.')}{where}")
    except (click.Abort, KeyboardInterrupt):
        fail("interrupted")
    except BrokenPipeError:
        _forget_stdout()
        sys.exit(MISUSE)
    except Exception as error:
        traceback.print_exc()
        fail(f"a fault of dpassay itself, please report it: {type(error).__name__}: {error}")
