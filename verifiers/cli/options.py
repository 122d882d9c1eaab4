"""Options of commands: which are given, and types whose errors show the value and its bounds."""

from functools import partial

import click

option_with_default = partial(click.option, show_default=True)
"""An option whose help shows its default."""


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


class Whole(click.IntRange):
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
