"""A target that withholds answers which its reference, without noise, gives."""

from pathlib import Path
from typing import Any

REFERENCE = f"{Path(__file__)}:reference"


def reference(data: Any, size: int) -> list[int]:
    """The input, so that two of it never differ."""
    return [data["n"]] * size


def wrong(planned: Any, check: str, entry: Any, times: float, seed: int) -> Any:
    """See `wrong_by`."""
    share = times * float(entry.size["share"])

    def make(rng: Any) -> Any:
        def release(data: Any, size: int) -> list[int]:
            if rng.random() < share:
                raise ValueError("withheld")
            return reference(data, size)

        return release

    return make
