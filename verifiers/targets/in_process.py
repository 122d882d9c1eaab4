"""A target handed over as a Python object: it runs in place."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...reference import BudgetExhausted, Histogram
from .replies import Refused, TargetError, call_text


class InProcessTarget:
    """Calls `(histogram, size) -> labels`, or `.sample(histogram, size)` of an object.

    Raises ValueError for anything that is neither.
    """

    def __init__(self, target: Any) -> None:
        sample = getattr(target, "sample", None)
        if isinstance(target, type) and callable(sample):
            raise ValueError(f"{target.__name__} is a class: expected an instance of it")
        if not callable(sample) and not callable(target):
            raise ValueError(
                f"{target!r} is neither callable nor has it a method sample(histogram, size)"
            )
        self._aggregate: Callable[[Histogram, int], Any] = sample if callable(sample) else target

    def ask(self, histogram: Histogram, size: int) -> Any:
        """See `Target.ask`; the target gets a read-only array of its own."""
        given = np.array(histogram, dtype=np.int64)
        given.flags.writeable = False
        try:
            reply = self._aggregate(given, size)
        except BudgetExhausted:
            raise
        except Exception as error:
            if isinstance(error, ValueError) and "read-only" not in str(error):
                raise Refused(str(error)) from None
            raised = f"{type(error).__name__}: {error}".splitlines()[0]
            raise TargetError(f"{call_text(histogram, size)} raised {raised}") from error
        if not np.array_equal(given, histogram):
            raise TargetError(f"{call_text(histogram, size)} changed the histogram it was given")
        return reply

    def close(self) -> None:
        """Nothing to end."""
