"""What is returned in place of numbers is named as what it is, from a process of its own too."""

from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.targets.numbers import number_array
from dpassay.verifiers.targets.replies import CallError
from dpassay.verifiers.targets.worker import _plain_releases

COMPLEX = np.full((40, 2), 1.0 + 2.0j)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (None, "None"),
        ({"a": 1}, "{'a': 1}"),
        (COMPLEX, "an array of complex128"),
        (COMPLEX > 0, "an array of bool"),
        ([["a", "b"]], "an array of text"),
        ([[1.0], [1.0, 2.0]], "[[1.0], [1.0, 2.0]]"),
    ],
)
@pytest.mark.parametrize("travel", [_plain_releases, lambda reply: reply])
def test_it_is_told_by_its_type(reply: Any, said: str, travel: Any) -> None:
    """Catches types told as `text`, as the process writes them, or cut at a line's end."""
    with pytest.raises(CallError) as caught:
        number_array(travel(reply), (1, 2), "aggregate([1], size=1)")
    message = f"aggregate([1], size=1) returned {said}: expected numbers of shape (1, 2)"
    assert str(caught.value) == message
