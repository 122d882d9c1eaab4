"""What a target may answer. A reply that breaks the rules is an error, and never evidence."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...reference import REFUSAL, Histogram
from ...reference.mechanisms import Labels

Charge = NDArray[np.float64]


class TargetError(Exception):
    """A target that raised, hung, died or broke the reply format; names the call and its input."""


class Refused(Exception):  # noqa: N818 - an answer, not an error
    """A target's word that it does not serve this histogram."""


class NotOffered(Exception):  # noqa: N818 - an answer, not an error
    """A target's word that it has no accountant of this kind."""


class Target(Protocol):
    """A deployment as the gate sees it."""

    def ask(self, histogram: Histogram, size: int) -> Any:
        """The raw reply to one call; raises `Refused`, `BudgetExhausted` or `TargetError`."""

    def rdp(self, histogram: Histogram, orders: Sequence[float]) -> Any:
        """The raw reply of its own accountant; raises `NotOffered`, else as `ask`."""

    def spent(self, delta: float) -> Any:
        """The raw reply of its own ledger, epsilon at delta; raises as `rdp`."""

    def close(self) -> None:
        """Ends the deployment if it was started for the run."""


def call_text(histogram: Histogram, size: int) -> str:
    """The call as it is named in messages."""
    votes = ", ".join(str(v) for v in histogram[:12])
    rest = f", ... {histogram.size} classes" if histogram.size > 12 else ""
    return f"aggregate([{votes}{rest}], size={size})"


def charge_text(histogram: Histogram) -> str:
    """A call for a charge as it is named in messages."""
    return call_text(histogram, 0).replace("aggregate(", "rdp(").replace("size=0", "orders")


def checked_charge(reply: Any, histogram: Histogram, orders: Sequence[float]) -> Charge:
    """The Rényi costs (n,) in `reply`. Raises TargetError naming the call and what is allowed."""
    call = charge_text(histogram)
    try:
        charge = np.asarray(reply, dtype=np.float64)
    except (TypeError, ValueError):
        raise TargetError(
            f"{call} returned {_shown(reply)}: expected {len(orders)} costs"
        ) from None
    if charge.shape != (len(orders),):
        raise TargetError(
            f"{call} returned {_described(charge, reply)}: expected {len(orders)} costs, one each "
            "order"
        )
    bad = np.isnan(charge) | (charge < 0)
    if bad.any():
        where = int(np.argmax(bad))
        raise TargetError(
            f"{call} returned {charge[where]} at order {orders[where]:g}: expected a cost from 0"
        )
    return charge


def checked_spent(reply: Any, delta: float) -> float:
    """The epsilon in `reply`. Raises TargetError naming the call and what is allowed."""
    if isinstance(reply, bool) or not isinstance(reply, int | float | np.number) or not reply >= 0:
        raise TargetError(f"spent({delta:g}) returned {_shown(reply)}: expected a number from 0")
    return float(reply)


def checked_labels(reply: Any, histogram: Histogram, size: int, may_refuse: bool) -> Labels:
    """The labels (size,) in `reply`, int64.

    reply: anything `np.asarray` makes integral. Raises TargetError that names the call, what came
    back and what is allowed.
    """
    call = call_text(histogram, size)
    try:
        labels = np.asarray(reply)
    except Exception:
        raise TargetError(f"{call} returned {_shown(reply)}: expected {size} labels") from None
    if labels.shape != (size,):
        raise TargetError(
            f"{call} returned {_described(labels, reply)}: expected {size} labels, shape ({size},)"
        )
    if labels.dtype.kind not in "iuf":
        raise TargetError(f"{call} returned labels of type {labels.dtype}: expected whole numbers")
    lowest, allowed = 0, f"0 to {histogram.size - 1}"
    if may_refuse:
        lowest, allowed = REFUSAL, f"{allowed}, or {REFUSAL} for a refusal"
    with np.errstate(invalid="ignore"):
        good = (labels >= lowest) & (labels < histogram.size) & (labels == np.floor(labels))
    if not good.all():
        where = int(np.argmin(good))
        raise TargetError(
            f"{call} returned label {labels[where]} at place {where}: allowed are {allowed}"
        )
    return labels.astype(np.int64)


def _described(labels: np.ndarray[Any, Any], reply: Any) -> str:
    if labels.dtype == object or labels.ndim == 0:
        return _shown(reply)
    return f"an array of shape {labels.shape}"


def _shown(reply: Any) -> str:
    text = reply if isinstance(reply, str) else repr(reply)
    return text if len(text) <= 60 else f"{text[:57]}..."
