"""Rows that travel otherwise than as they count: some lack a part, or name a user in two types."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...reference.tables import Rows

Part = Literal["user", "partition", "value"]
"""What a row may lack; a value that is NaN is lacking."""

PARTS: tuple[Part, ...] = ("user", "partition", "value")


@dataclass(frozen=True, eq=False)
class SentRows(Rows):
    """The rows that count, and `sent`: rows [user, partition, value] as they travel."""

    sent: tuple[tuple[Any, Any, Any], ...] = ()


def is_missing(found: Any) -> bool:
    """Whether a part of a row is not there: None, or NaN."""
    return found is None or (isinstance(found, float) and math.isnan(found))


def whole_rows(
    given: Sequence[Sequence[Any]], places: Mapping[Any, int], missing: Mapping[Part, str]
) -> Rows:
    """The rows that count of those that travel; partitions by their `places`.

    missing: says by part whether rows without it are "dropped" or "refused". Raises ValueError for
    rows that are refused, and KeyError or TypeError for rows that are none.
    """
    found = []
    for row in given:
        user, key, value = row
        if not (is_missing(user) or is_missing(key) or is_missing(value)):
            found.append((int(user), places[key], value))
            continue
        for part, each in zip(PARTS, row, strict=True):
            if is_missing(each) and missing.get(part) != "dropped":
                raise ValueError(f"a row has no {part}")
    users, cells, values = zip(*found, strict=True) if found else ((), (), ())
    return Rows.of(users, cells, values)
