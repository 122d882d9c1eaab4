"""The forms in which a deployment takes an input: a histogram, its teachers' votes, or a query."""

import copy
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ...reference import Histogram
from .labels import LabelRelease, read_only
from .replies import shown

Form = Literal["histogram", "votes", "one-hot", "query"]


class FormRelease(LabelRelease):
    """The `Release` of an aggregator that takes its input in another form than a histogram.

    given: by the histogram (c,) of its votes, the class of each teacher or, where the form is
    "query", what JSON has for it. Votes that are not given are sorted by class.
    """

    def __init__(self, form: Form, given: Mapping[tuple[int, ...], Any]) -> None:
        self.form, self._known = form, given
        self.given = "query" if form == "query" else "array"

    def argument(self, histogram: Histogram) -> Any:
        """See `Release.argument`: an array (teachers,) or (teachers, c), or a query of its own."""
        return taken(self.content(histogram))

    def content(self, histogram: Histogram) -> dict[str, Any]:
        """See `Release.content`: `query`, or `votes`, each a class or a row of zeros and a one."""
        key = tuple(histogram.tolist())
        if self.form == "query":
            return {"query": self._known[key]}
        votes = self._known.get(key, np.repeat(np.arange(histogram.size), histogram))
        if self.form == "votes":
            return {"votes": np.asarray(votes).tolist()}
        return {"votes": np.eye(histogram.size, dtype=np.int64)[np.asarray(votes)].tolist()}

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
