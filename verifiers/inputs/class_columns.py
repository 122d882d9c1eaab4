"""Which class each column of votes is, as the header of a CSV file says it."""

import re
from collections.abc import Sequence
from string import ascii_lowercase

_NUMBERED = re.compile(r"(\D*)(\d{1,9})(\D*)", re.ASCII)


def class_order(names: Sequence[str]) -> list[int]:
    """The place among `names` (c,) of the column of each class: of class 0, of class 1, ...

    Names that differ by a number alone, `3` or `class_3`, say which class they are: numbered from
    0, they may stand in any order. Other names say nothing, and columns stand in the order of the
    classes. Raises ValueError, without the place, for a column without a name, two of one name, and
    an order that is neither: other numbers that do not rise, or the first letters, but not in turn.
    """
    if "" in names:
        raise ValueError(f"column {list(names).index('') + 1} has no name: expected a class")
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise ValueError(f"more than one column named {doubled[:60]}")
    if sorted(names) == list(ascii_lowercase[: len(names)]) != list(names):
        raise ValueError(
            f"columns of votes {', '.join(names)}, not in their order: name them 0 to "
            f"{len(names) - 1}, by the labels they stand for"
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
    raise ValueError(
        f"columns of votes numbered {', '.join(map(str, numbers[:5]))}, ...: expected 0 to "
        f"{len(names) - 1}, each once, or rising numbers"
    )
