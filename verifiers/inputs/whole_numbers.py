"""Whole numbers as files write them."""


def is_whole(text: str) -> bool:
    """Whether a cell holds a whole number of ASCII digits, at most 18, perhaps within spaces.

    Python takes the digits of other scripts for numbers too, and any length.
    """
    text = text.strip()
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 19
