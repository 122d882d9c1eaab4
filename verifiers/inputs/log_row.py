"""A row of a log, made of its cells."""

from collections.abc import Mapping
from typing import NamedTuple

from .cells import epsilon_of, seconds_of


class Row(NamedTuple):
    """One release: a histogram (c,) and the label drawn for it, -1 for a refusal.

    key: the id of the input, if any; time: in seconds of the log's clock; time_text: as the log has
    it; charged: the epsilon that the deployment charged for this release; worker, client, call: as
    the log names them; more: of the columns that the claim names beyond these.
    """

    histogram: tuple[int, ...]
    label: int
    key: str | None = None
    time: float | None = None
    worker: str | None = None
    charged: float | None = None
    client: str | None = None
    call: str | None = None
    time_text: str | None = None
    more: tuple[str | None, ...] = ()


def row_of(
    histogram: tuple[int, ...],
    label: int,
    named: Mapping[str, str | None],
    place: str,
    more: tuple[str | None, ...] = (),
) -> Row:
    """The row; named: its other cells, by name; more: as `Row` has it. Raises LogError."""
    if not named and not more:
        return Row(histogram, label)
    return Row(
        histogram,
        label,
        named.get("id"),
        seconds_of(named.get("time"), place),
        named.get("worker"),
        epsilon_of(named.get("charged"), place),
        named.get("client"),
        named.get("call"),
        named.get("time"),
        more,
    )
