"""Options of commands: types whose errors show the bounds, workers, the line that repeats a run."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .exit_statuses import fail, need

if TYPE_CHECKING:
    from ...reference.parallel.executors import Workers


option_with_default = partial(click.option, show_default=True)
"""An option whose help shows its default."""

profile_option = click.option(
    "--profile", metavar="NAME", help="Options of a profile in dpassay.toml or pyproject.toml."
)


def typed_options(context: click.Context, apart: set[str]) -> list[str]:
    """Options that were given a value on the command line, but for those named `apart`."""
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
        and parameter.name not in apart
        and context.get_parameter_source(str(parameter.name))
        is not click.core.ParameterSource.DEFAULT
    ]


class WholeNumber(click.IntRange):
    """A whole number between bounds."""

    name = "whole number"

    def convert(
        self, value: object, param: click.Parameter | None, context: click.Context | None
    ) -> int:
        """The number. Raises click.BadParameter that shows the value and the bounds."""
        try:
            number = int(str(value))
            converted: int = super().convert(number, param, context)
        except (ValueError, click.BadParameter):
            upto = "" if self.max is None else f" to {self.max:,}"
            self.fail(
                f"{str(value)[:60]!r}: expected a whole number from {self.min:,}{upto}",
                param,
                context,
            )
        return converted


class Seconds(click.FloatRange):
    """Seconds of a run, above 0 and at most a week."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(min=0.0, max=604_800.0, min_open=True)

    def convert(
        self, value: object, param: click.Parameter | None, context: click.Context | None
    ) -> float:
        """The number. Raises click.BadParameter that shows the value and the bounds."""
        try:
            number = float(str(value))
        except ValueError:
            number = 0.0
        if not 0.0 < number <= 604_800.0:
            allowed = "expected seconds above 0, up to 604800 (a week)"
            self.fail(f"{str(value)[:60]!r}: {allowed}", param, context)
        return number


Command = TypeVar("Command", bound=Callable[..., object])

_MOST = 1000


def over_workers(command: Command) -> Command:
    """Gives a command the options `--workers` and `--dask`, as `workers` and `dask`."""
    command = click.option(
        "--dask", metavar="ADDRESS", callback=_dask, help="Over a Dask scheduler's workers."
    )(command)
    return click.option("--workers", type=WholeNumber(1, _MOST), help="Over so many processes.")(
        command
    )


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


_FLAGS = {
    "keep_going": "--keep-going",
    "stop_at_once": "--stop-at-once",
    "strict": "--strict",
    "no_paths": "--no-paths",
}
_OPTIONS = {
    "claim_file": "--claim",
    "demo": "--demo",
    "max_queries": "--max-queries",
    "queries": "--queries",
    "compare": "--compare",
    "checks": "--check",
    "skipped": "--skip",
    "typed": "--histogram",
    "file": "--histograms",
    "ledger": "--ledger",
    "build": "--build",
}
"""Options by the parameters of `dpassay verify` that have their values."""


def verify_line(spec: str | None, **given: Any) -> str:
    """`dpassay verify` with the options that were given; tuples are of repeated ones.

    spec: the target without credentials, None for the reference; given: parameters of the command,
    of which those that do not change what is asked are left out. The seed, which a run may choose
    itself, is added by the run.
    """
    words = ["dpassay", "verify"] + ([] if spec is None else [spec])
    words += [option for name, option in _FLAGS.items() if given.get(name)]
    for name, option in _OPTIONS.items():
        value = given.get(name)
        values = value if isinstance(value, tuple) else (value,)
        words += [word for one in values if one is not None for word in (option, str(one))]
    return shlex.join(words)
