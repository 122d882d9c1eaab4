"""Labels for histograms of votes: their wire format, and the checks of a reply."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reference import REFUSAL, Histogram
from ...reference.mechanisms import Labels
from .release import Release, read_only
from .replies import CallError, TargetError, described, shown


class LabelRelease(Release):
    """The `Release` of an aggregator that takes a histogram (classes,) and gives labels."""

    reply, given, key = "labels", "histogram", "histogram"

    def argument(self, histogram: Histogram) -> Any:
        """A read-only array."""
        return read_only(histogram)

    def content(self, histogram: Histogram) -> dict[str, Any]:
        return {"histogram": histogram.tolist()}

    def input_text(self, histogram: Histogram) -> str:
        """The first 12 classes."""
        votes = ", ".join(str(v) for v in histogram[:12])
        rest = f", ... {histogram.size} classes" if histogram.size > 12 else ""
        return f"[{votes}{rest}]"

    def shaped(self, reply: Any, histogram: Histogram, size: int) -> NDArray[Any]:
        """Numbers (size,), whose values `checked_labels` checks."""
        return label_array(reply, size, self.text(histogram, size))


LABELS = LabelRelease()


def label_array(reply: Any, size: int, call: str) -> NDArray[Any]:
    """The numbers (size,) in `reply`, of any value; raises as `checked_labels`."""
    try:
        labels = np.asarray(reply)
    except Exception:
        raise CallError(call, f"returned {shown(reply)}: expected {size} labels") from None
    if labels.shape != (size,):
        found = described(labels, reply)
        raise CallError(call, f"returned {found}: expected {size} labels, shape ({size},)")
    objects = labels if labels.dtype.kind == "O" else ()
    if (at := next((i for i, label in enumerate(objects) if label is None), None)) is not None:
        raise CallError(call, f"returned None at place {at}: a refusal is -1, a label its class")
    if labels.dtype.kind not in "iuf":
        kind = {"U": "text", "S": "bytes", "b": "bool"}.get(labels.dtype.kind, labels.dtype)
        raise CallError(
            call,
            f"returned labels of type {kind}: expected whole numbers, each the index of a class in "
            "the histogram",
        )
    return labels


def checked_labels(
    reply: Any, histogram: Histogram, size: int, may_refuse: bool, release: Release = LABELS
) -> Labels:
    """The labels (size,) in `reply`, as int64.

    reply: anything that `np.asarray` turns into whole numbers; may_refuse: whether -1 is allowed;
    release: names the call in messages. Raises TargetError that names the call, what came back and
    what is allowed.
    """
    call = release.text(histogram, size)
    labels = label_array(reply, size, call)
    lowest, allowed = 0, f"0 to {histogram.size - 1}"
    if may_refuse:
        lowest, allowed = REFUSAL, f"{allowed}, or {REFUSAL} for a refusal"
    with np.errstate(invalid="ignore"):
        good = (labels >= lowest) & (labels < histogram.size) & (labels == np.floor(labels))
    if not good.all():
        where = int(np.argmin(good))
        raise TargetError(
            f"{call} returned label {labels[where]} at place {where}: allowed are {allowed}"
            f"{_where_to_look(labels, histogram.size, lowest)}",
            code="reply-malformed",
        )
    return labels.astype(np.int64)


def _where_to_look(labels: NDArray[Any], classes: int, lowest: int) -> str:
    """The likely cause of labels out of range: counted from 1, more classes, or refusals."""
    least, most = float(labels.min()), float(labels.max())
    if most == classes and least > 0:
        return f", and 0 never came: does the target count classes from 1, or more than {classes}?"
    if classes <= most < np.inf:
        return f": does the target count more than {classes} classes?"
    if least == REFUSAL < lowest:
        return f"; {REFUSAL} is a refusal: does the target have a threshold, and the claim none?"
    return ""
