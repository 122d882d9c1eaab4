"""Options of commands whose work has parts: over how many workers, or which cluster."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from .exit_statuses import fail, need
from .options import Whole

if TYPE_CHECKING:
    from ...reference.parallel.executors import Workers

Command = TypeVar("Command", bound=Callable[..., object])

_MOST = 1000


def over_workers(command: Command) -> Command:
    """Gives a command the options `--workers` and `--dask`, as `workers` and `dask`."""
    command = click.option(
        "--dask", metavar="ADDRESS", callback=_dask, help="Over a Dask scheduler's workers."
    )(command)
    return click.option("--workers", type=Whole(1, _MOST), help="Over so many processes.")(command)


def _dask(_context: click.Context, _option: click.Parameter, address: str | None) -> str | None:
    """The address, once what it takes is there."""
    if address is not None:
        need("--dask", "distributed")
    return address


@contextmanager
def working(workers: int | None, dask: str | None) -> Iterator["Workers | None"]:
    """The executor that the options name, None where they name none.

    Ends the command where it cannot be had, or is lost.
    """
    if workers is not None and dask is not None:
        fail("--workers and --dask: give one or the other")
    if workers is None and dask is None:
        yield None
        return
    from ...reference.parallel.workers import WorkersError, open_executor

    try:
        with open_executor(workers, dask) as executor:
            yield executor
    except WorkersError as error:
        fail(str(error), code="workers-failed")
