"""Whole numbers in the cells of a file."""


def is_whole(text: str) -> bool:
    """Whether a cell holds a whole number of at most 18 ASCII digits, perhaps within spaces.

    Python's own `int` would accept digits of other scripts, and any length.
    """
    text = text.strip()
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 19
