"""The forms in which a deployment takes an input: histogram, votes of teachers, or query."""

import copy
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...reference import Histogram
from .labels import LabelRelease
from .release import read_only
from .replies import shown

Form = Literal["histogram", "votes", "one-hot", "query"]


def arranged(histogram: Histogram) -> NDArray[np.int64]:
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
    given are those of `arranged`.
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
        return taken(self.content(histogram))

    def content(self, histogram: Histogram) -> dict[str, Any]:
        """See `Release.content`: `query`, or `votes` as classes or as one-hot rows."""
        key = tuple(histogram.tolist())
        known = self._second if isinstance(histogram, SecondInput) else self._known
        if self.form == "query":
            return {"query": known[key]}
        votes = np.asarray(known[key] if key in known else arranged(histogram))
        if self.form == "votes":
            return {"votes": votes.tolist()}
        return {"votes": np.eye(histogram.size, dtype=np.int64)[votes].tolist()}

    def votes(self, histogram: Histogram) -> NDArray[np.int64]:
        """The class of each teacher (teachers,) in the first input with this histogram (c,)."""
        known = self._known.get(tuple(histogram.tolist()))
        return arranged(histogram) if known is None else np.array(known, dtype=np.int64)

    def input_text(self, histogram: Histogram) -> str:
        """Where the form is "query", the query."""
        if self.form != "query":
            return super().input_text(histogram)
        return shown(self.content(histogram)["query"])


def taken(content: Mapping[str, Any]) -> Any:
    """The argument of a Python target for an input in JSON form; arrays are read-only."""
    if "query" in content:
        return copy.deepcopy(content["query"])
    return read_only(content["histogram" if "histogram" in content else "votes"])
