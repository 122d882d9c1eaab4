"""The reference of numbers or of keys as `dpassay serve` answers for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....reference import BudgetExhausted
from ...targets import InProcessTarget, NotOffered
from ...targets.numbers import argument_of_values
from ...targets.replies import shown
from .claim import NumbersClaim

NO_ACCOUNT = "the reference of numbers keeps no account: it gives the releases that a claim allows"


class ServedNumbers:
    """With [privacy] in the claim it gives as many releases as `queries` says."""

    takes, reply, body_bytes = "values", "releases", 64_000_000

    def __init__(self, claim: NumbersClaim) -> None:
        self.mechanism, self.release = claim.mechanism, claim.release
        self.reference: InProcessTarget = claim.kind.reference(claim)
        self.width = claim.mechanism.width
        self._left = None if claim.privacy is None else claim.privacy.queries

    def input(self, given: Any) -> Any:
        """Counts, records, or for each tensor those of all records."""
        try:
            values = argument_of_values(given, self.release.word)
            tensors = values if self.mechanism.takes == "tensors" else [values]
        except (TypeError, ValueError, OverflowError):
            tensors = []
        if not tensors or not self._allows(tensors):
            raise ValueError(f"values {shown(given)}: expected {self._wanted}")
        return values

    @property
    def _are_counts(self) -> bool:
        return self.mechanism.takes in ("counts", "keys")

    def _allows(self, tensors: list[NDArray[Any]]) -> bool:
        if self._are_counts:
            (counts,) = tensors
            return counts.shape == (self.width,) and counts.dtype.kind == "i" and counts.min() >= 0
        of_records = self.mechanism.shapes or [[self.width]]
        numbers = all(tensor.dtype.kind in "if" for tensor in tensors)
        records = {len(tensor) for tensor in tensors if tensor.ndim}
        shapes = [list(tensor.shape[1:]) for tensor in tensors]
        return numbers and shapes == of_records and len(records) == 1

    @property
    def _wanted(self) -> str:
        if self._are_counts:
            return f"{self.width} counts, whole numbers from 0"
        if self.mechanism.takes == "records":
            return f"a list of records of {self.width} numbers each"
        return f"for each of the shapes {self.mechanism.shapes} a list of as many arrays"

    @contextmanager
    def reserved(self, size: int) -> Iterator[None]:
        """What was reserved is not given back."""
        if self._left is not None:
            if size > self._left:
                raise BudgetExhausted(f"{size:,} releases would exceed the {self._left:,} left")
            self._left -= size
        yield

    def drawn(self, values: Any, size: int) -> list[Any]:
        found = self.reference.answer(lambda: values, size, self.release.call)
        return found if isinstance(found, list) else np.asarray(found).tolist()

    def charge(self, releases: list[Any]) -> None:
        """They were charged when they were reserved."""

    def rdp(
        self, values: Any, orders: NDArray[np.float64], answered: bool | None = None
    ) -> list[float]:
        raise NotOffered(NO_ACCOUNT)

    def spent(self, delta: float) -> float:
        raise NotOffered(NO_ACCOUNT)
