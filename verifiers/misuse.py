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
_PACKAGES = {"dp_accounting": "dp-accounting", "flint": "python-flint", "jaxlib": "jax"}
"""What to install for a module of another name."""


def fail(message: str, status: int = MISUSE) -> NoReturn:
    """Ends the program with the status of misuse, or another; whoever wrote the message."""
    click.echo(f"dpassay: {printable(message)}", err=True)
    sys.exit(status)


def missing_package(error: ModuleNotFoundError) -> str:
    """What to install for the module that was not found; empty for one of dpassay's own."""
    module = (error.name or "").partition(".")[0]
    return "" if module == "dpassay" else _PACKAGES.get(module, module)


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
        if isinstance(error, ModuleNotFoundError) and (package := missing_package(error)):
            fail(f"this needs {package}, which is not installed: pip install {package}")
        traceback.print_exc()
        fail(f"a fault of dpassay itself, please report it: {type(error).__name__}: {error}")
