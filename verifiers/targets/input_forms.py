"""The forms in which a deployment takes an input: a histogram, its teachers' votes, or a query."""

import copy
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...reference import Histogram
from .labels import LabelRelease, read_only
from .replies import shown

Form = Literal["histogram", "votes", "one-hot", "query"]


def arranged(histogram: Histogram) -> NDArray[np.int64]:
    """The class of each teacher (total,) where a histogram (c,) alone is given.

    The first teachers vote for the class with most votes, the next ones for that with the second
    most; where the number of the leading class is odd, the halves of the teachers have changed
    places. So each teacher contends somewhere, and those of two classes that nearly tie change
    places as the classes are numbered otherwise.
    """
    ranked = np.argsort(-histogram, kind="stable")
    votes = np.repeat(ranked, histogram[ranked])
    return np.roll(votes, votes.size // 2 if ranked[0] % 2 else 0)


class SecondInput(np.ndarray[Any, np.dtype[np.int64]]):
    """A histogram (c,) that stands for the second of the inputs that have these votes."""

    @classmethod
    def of(cls, histogram: Histogram) -> "SecondInput":
        """The same votes, of the second input."""
        return histogram.view(cls)


class FormRelease(LabelRelease):
    """The `Release` of an aggregator that takes its input in another form than a histogram.

    given: by the histogram (c,) of its votes, the class of each teacher or, where the form is
    "query", what JSON has for it; second: the same of a second input with these votes. Votes that
    are not given are those of `arranged`.
    """

    def __init__(
        self,
        form: Form,
        given: Mapping[tuple[int, ...], Any],
        second: Mapping[tuple[int, ...], Any],
    ) -> None:
        self.form, self._known, self._second = form, given, second
        self.given = "query" if form == "query" else "array"

    def argument(self, histogram: Histogram) -> Any:
        """See `Release.argument`: an array (teachers,) or (teachers, c), or a query of its own."""
        return taken(self.content(histogram))

    def content(self, histogram: Histogram) -> dict[str, Any]:
        """See `Release.content`: `query`, or `votes`, each a class or a row of zeros and a one."""
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
        """See `LabelRelease.input_text`: the query itself, where the form is that."""
        if self.form != "query":
            return super().input_text(histogram)
        return shown(self.content(histogram)["query"])


def taken(content: Mapping[str, Any]) -> Any:
    """What a target in Python is given for an input as JSON carries it; arrays are read-only."""
    if "query" in content:
        return copy.deepcopy(content["query"])
    return read_only(content["histogram" if "histogram" in content else "votes"])
