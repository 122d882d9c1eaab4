"""Rows without a user, a partition or a number, infinite values, users of two types, spellings."""

import math
from typing import Any

import numpy as np

from .....reference.tables import Rows
from ....targets.frames import SentRows, is_missing
from ..claim import TablesClaim
from .asked import TableRole
from .rows import Making, renumbered, together

Row = tuple[Any, Any, Any]
"""A user, a partition and a value, as they travel."""

_USERS = 60
_LACKING = 40  # rows without a user, of a partition
_NUMBERS = None, math.nan
_SPELLED, _MOST_SPELLED = 10, 4_000  # partitions, and rows in all


def unusual_rows(making: Making) -> list[tuple[TableRole, Rows]]:
    """Those of which the claim says something; rows that count are as it says."""
    mechanism = making.claim.mechanism
    missing = mechanism.missing.parts
    found: list[tuple[TableRole, Rows]] = []
    if "user" in missing:
        found.append((TableRole.NO_USERS, _without_users(making)))
    if "partition" in missing:
        found.append((TableRole.NO_PARTITIONS, _without_partitions(making)))
    if "value" in missing:
        found.append((TableRole.NO_NUMBERS, _without_numbers(making)))
        found.append((TableRole.INFINITE, _infinite(making)))
    if mechanism.users_as_text:
        found.append((TableRole.TWO_TYPES, _of_two_types(making)))
    spelled = _spelled(making)
    return found if spelled is None else [*found, (TableRole.SPELLED, spelled)]


def _travelling(making: Making, rows: Rows) -> Any:
    return making.claim.release.content(rows)["rows"]


def _sent(making: Making, rows: Rows, lacking: list[Row]) -> SentRows:
    """Rows that count, in their order, with those that lack something among them."""
    sent = [tuple(row) for row in _travelling(making, rows)]
    places = np.sort(making.rng.integers(0, len(sent) + 1, len(lacking)))
    for row, place in zip(lacking[::-1], places[::-1].tolist(), strict=True):
        sent.insert(place, row)
    return SentRows(rows.users, rows.cells, rows.values, tuple(sent))


def _sent_value(making: Making) -> Any:
    """A value at its upper bound, as it travels."""
    return np.asarray(making.ends[1]).tolist()


def _few(making: Making) -> Rows:
    """Some rows within the bounds, of partitions that are all released for certain."""
    return renumbered(making.surely(rows=2), making.rng)


def _keys(making: Making) -> list[Any]:
    return [making.claim.keys[cell] for cell in making.cells[:10]]


def _without_users(making: Making) -> SentRows:
    """Many rows without a user in each partition, which nobody's bounds hold back."""
    far = _sent_value(making)
    return _sent(making, _few(making), [(None, key, far) for key in _keys(making)] * _LACKING)


def _crowded(making: Making) -> Rows:
    """Some rows with a crowd of users at the bounds, which all stay."""
    bounding = making.claim.mechanism.table.bounding
    cells = [int(cell) for cell in making.cells[: min(10, bounding.partitions)]]
    rows = max(1, min(bounding.per_partition, bounding.rows // len(cells), 20))
    crowd = making.crowd(_USERS, cells, rows, [making.ends[1]])
    return renumbered(together(_few(making), crowd), making.rng)


def _without_partitions(making: Making) -> SentRows:
    """Users at the bounds, who have rows without a partition besides: those cost them nothing."""
    rows = _crowded(making)
    users = np.unique(rows.users).tolist()
    return _sent(making, rows, [(user, None, _sent_value(making)) for user in users] * 5)


def _without_numbers(making: Making) -> SentRows:
    """Users of whom every row lacks its number: NULL of one, NaN of the next."""
    rows = _few(making)
    first = int(rows.users.max(initial=0)) + 1
    keys = _keys(making)[: making.claim.mechanism.table.bounding.partitions]
    lacking = [(first + user, key, _NUMBERS[user % 2]) for user in range(_USERS) for key in keys]
    return _sent(making, rows, lacking)


def _infinite(making: Making) -> SentRows:
    """Users beyond the bounds whose values are infinite: clipped, or dropped."""
    rows = min(making.claim.mechanism.table.bounding.per_partition, 1_000) + 1
    crowd = making.crowd(
        max(1, min(20, 4_000 // rows)), making.cells[:1].tolist(), rows, [math.inf, -math.inf]
    )
    return _sent(making, renumbered(together(_few(making), crowd), making.rng), [])


def _of_two_types(making: Making) -> SentRows:
    """Users beyond the bounds, half of whose rows name them by a text."""
    bounding = making.claim.mechanism.table.bounding
    cells = making.cells[: min(2 * bounding.partitions, 20)].tolist()
    rows = min(2 * bounding.per_partition, 50)
    crowd = making.crowd(
        max(2, min(_USERS, 2_000 // (rows * len(cells)))), cells, rows, making.ends[1:2]
    )
    whole = renumbered(together(_few(making), crowd), making.rng)
    as_text = making.rng.random(len(whole)) < 0.5
    sent = tuple(
        (str(user) if text else user, key, value)
        for (user, key, value), text in zip(_travelling(making, whole), as_text, strict=True)
    )
    return SentRows(whole.users, whole.cells, whole.values, sent)


def spellings_of(key: str) -> list[str]:
    """Other spellings of a partition, which an engine may take for it or not."""
    return [key.swapcase(), f"{key} ", f" {key}"]


def _spelled(making: Making) -> SentRows | None:
    """Users at the bounds, each in one listed partition, who have as many rows in its spellings.

    Whether an engine takes these for the partition, or for others that are not listed, as many rows
    of a user stay there: all are alike, and a user has no more spellings than it may have
    partitions. None where the claim has no such bounds, or no listed partitions of texts.
    """
    mechanism, bounding = making.claim.mechanism, making.claim.mechanism.table.bounding
    keys, most = making.claim.keys, min(bounding.partitions, 1 + len(spellings_of("")))
    cells = [
        cell
        for cell in making.cells[:_SPELLED].tolist()
        if isinstance(keys[cell], str) and not {*spellings_of(str(keys[cell]))} & {*keys}
    ]
    rows = most * bounding.per_partition
    plain = bounding.kept != "all" and bounding.max_rows is None and mechanism.partitions
    if not plain or most < 2 or not cells or rows > _MOST_SPELLED:
        return None
    users = min(4 * _USERS, _MOST_SPELLED // rows)
    found = [making.crowd(1, [cell], bounding.per_partition, [making.ends[2]]) for cell in cells]
    whole = renumbered(together(*(found[k % len(found)] for k in range(users))), making.rng)
    sent: list[Row] = []
    for place, row in enumerate(_travelling(making, whole)):
        user, key, value = row
        others = [one for one in dict.fromkeys(spellings_of(key)) if one != key]
        turned = [others[(place // bounding.per_partition + k) % len(others)] for k in range(most)]
        sent += [(user, one, value) for one in (key, *turned[: most - 1])]
    mixed = [sent[k] for k in making.rng.permutation(len(sent)).tolist()]
    return SentRows(whole.users, whole.cells, whole.values, tuple(mixed))


def some_unusual(rows: SentRows) -> list[Row]:
    """Unusual rows among those that travel, one of each way to be so."""
    found: dict[object, Row] = {}
    for user, key, value in rows.sent:
        odd = isinstance(value, float) and math.isinf(value)
        lacking = [repr(part) for part in (user, key, value) if is_missing(part)]
        if lacking or odd or isinstance(user, str):
            found.setdefault((*lacking, odd, type(user)), (user, key, value))
    return list(found.values())


def with_one(claim: TablesClaim, rows: Rows, row: Row | None) -> SentRows:
    """The rows that count of an input as they are, and one more that travels with them."""
    lost = [place for place in range(len(rows)) if not np.isfinite(rows.values[place]).all()]
    whole = np.delete(np.arange(len(rows)), lost)
    kept = Rows(rows.users, rows.cells, rows.values).kept(whole)
    sent = [tuple(each) for each in claim.release.content(kept)["rows"]]
    more = [] if row is None else [row]
    return SentRows(kept.users, kept.cells, kept.values, (*sent, *more))
