"""Option types of the command line whose errors say what is allowed."""

import click


class Whole(click.IntRange):
    """A whole number between bounds; click's own words for a text are "not a valid integer"."""

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
