"""Labels for histograms of votes: their wire format, and the checks of a reply.

An input is a histogram, or stands for one: the votes of teachers, or a query.
"""

import copy
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...reference import REFUSAL, Histogram
from ...reference.mechanisms import Labels
from .release import Release, read_only
from .replies import CallError, describe, shown


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
        found = describe(labels, reply)
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
        hint = _where_to_look(labels, histogram.size, lowest)
        found = f"label {labels[where]} at place {where}"
        raise CallError(call, f"returned {found}: allowed are {allowed}{hint}")
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


Form = Literal["histogram", "votes", "one-hot", "query"]


def arrange_votes(histogram: Histogram) -> NDArray[np.int64]:
    """The class of each teacher (total,) for a histogram (c,) that does not come with votes.

    The first teachers vote for the class with most votes, the next ones for that with the second
    most, and so on; where the number of the leading class is odd, the two halves of the teachers
    are swapped. So every teacher votes for a leading class somewhere, and renumbering the classes
    moves teachers between two classes that nearly tie.
    """
    ranked = np.argsort(-histogram, kind="stable")
    votes = np.repeat(ranked, histogram[ranked])
    return np.roll(votes, votes.size // 2 if ranked[0] % 2 else 0)


class SecondInput(np.ndarray[Any, np.dtype[np.int64]]):
    """A histogram (c,) that stands for the second of two inputs with the same votes."""

    @classmethod
    def of(cls, histogram: Histogram) -> "SecondInput":
        """`histogram` as that of the second input."""
        return histogram.view(cls)


class FormRelease(LabelRelease):
    """The `Release` of an aggregator that takes its input in another form than a histogram.

    given: for each histogram (c,), the class of each teacher or, where the form is "query", the
    query as JSON; second: as `given`, for the second input with this histogram. Votes that are not
    given are those of `arrange_votes`.
    """

    def __init__(
        self,
        form: Form,
        given: Mapping[tuple[int, ...], Any],
        second: Mapping[tuple[int, ...], Any],
    ) -> None:
        self.form, self._known, self._second = form, given, second
        self.given = "query" if form == "query" else "array"
        self.key = "query" if form == "query" else "votes"

    def argument(self, histogram: Histogram) -> Any:
        """An array (teachers,) or (teachers, c), or a copy of the query."""
        return argument_of(self.content(histogram))

    def content(self, histogram: Histogram) -> dict[str, Any]:
        """See `Release.content`: `query`, or `votes` as classes or as one-hot rows."""
        key = tuple(histogram.tolist())
        known = self._second if isinstance(histogram, SecondInput) else self._known
        if self.form == "query":
            return {"query": known[key]}
        votes = np.asarray(known[key] if key in known else arrange_votes(histogram))
        if self.form == "votes":
            return {"votes": votes.tolist()}
        return {"votes": np.eye(histogram.size, dtype=np.int64)[votes].tolist()}

    def votes(self, histogram: Histogram) -> NDArray[np.int64]:
        """The class of each teacher (teachers,) in the first input with this histogram (c,)."""
        known = self._known.get(tuple(histogram.tolist()))
        return arrange_votes(histogram) if known is None else np.array(known, dtype=np.int64)

    def input_text(self, histogram: Histogram) -> str:
        """Where the form is "query", the query."""
        if self.form != "query":
            return super().input_text(histogram)
        return shown(self.content(histogram)["query"])


def argument_of(content: Mapping[str, Any]) -> Any:
    """The argument of a Python target for an input in JSON form; arrays are read-only."""
    if "query" in content:
        return copy.deepcopy(content["query"])
    return read_only(content["histogram" if "histogram" in content else "votes"])
