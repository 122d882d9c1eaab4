"""Which class each column of votes stands for, by the header of a CSV file."""

import re
from collections.abc import Sequence
from string import ascii_lowercase

from .input_error import ColumnsError

_NUMBERED = re.compile(r"(\D*)(\d{1,9})(\D*)", re.ASCII)


def class_order(names: Sequence[str], place: str) -> list[int]:
    """For each class 0, 1, ..., the index of its column in `names` (c,).

    Names that differ in a number only (`3`, `class_3`), numbered from 0, may stand in any order.
    Columns with other names stand in the order of the classes. place: of the header, for messages.
    Raises ColumnsError for a column without a name, two of one name, and an order that is unclear:
    other numbers that do not rise, or the first letters out of order.
    """
    if "" in names:
        number = list(names).index("") + 1
        raise ColumnsError(f"{place}: column {number} has no name: expected a class")
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise ColumnsError(f"{place}: more than one column named {doubled[:60]}")
    if sorted(names) == list(ascii_lowercase[: len(names)]) != list(names):
        raise ColumnsError(
            f"{place}: columns of votes {', '.join(names)} are not in alphabetical order: name "
            f"them 0 to {len(names) - 1}, by the labels they stand for"
        )
    found = [_NUMBERED.fullmatch(name) for name in names]
    parts = [((m[1], m[3]), int(m[2])) for m in found if m is not None]
    if len(parts) < len(names) or len({text for text, _ in parts}) > 1:
        return list(range(len(names)))
    numbers = [number for _, number in parts]
    if sorted(numbers) == list(range(len(names))):
        return [numbers.index(k) for k in range(len(names))]
    if numbers == sorted(numbers):
        return list(range(len(names)))
    raise ColumnsError(
        f"{place}: columns of votes numbered {', '.join(map(str, numbers[:5]))}, ...: expected 0 "
        f"to {len(names) - 1}, each once, or rising numbers"
    )
