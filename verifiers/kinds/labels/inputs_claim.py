"""`[inputs]` of a claim of labels: what alone is asked, and in which form."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import PrivateAttr, model_validator

from ...claims.tables import Table
from ...inputs.files import found_from
from ...inputs.input_file import Input, read_inputs
from ...targets.labels import LABELS, Form, FormRelease
from ...targets.release import Release
from .mechanism import LabelsMechanism
from .weighted import made_inputs, weighed_inputs


class InputsClaim(Table):
    """`[inputs]`: what alone is asked, and the form in which it is."""

    file: str | None = None
    form: Form = "histogram"
    _rows: tuple[Input, ...] = PrivateAttr(default=())

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.file is None and self.form in ("histogram", "query"):
            raise ValueError('file is missing: only form = "votes" and "one-hot" do without')
        return self

    @property
    def is_large(self) -> bool:
        """Whether an input grows with teachers times classes: other totals are not asked then."""
        return self.form == "one-hot"

    @property
    def rows(self) -> tuple[Input, ...]:
        """The inputs of the file; none where there is no file."""
        return self._rows

    def read(self, mechanism: LabelsMechanism, folder: Path | None = None) -> None:
        """Reads the file, from the working directory or else from `folder`. Raises ValueError.

        Where teachers have weights, so have histograms, and without a file inputs are made.
        """
        rows: tuple[Input, ...] = ()
        weights, classes = mechanism.weights, mechanism.classes
        if self.file is not None:
            path, queried = found_from(self.file, folder), self.form == "query"
            rows = read_inputs(path, classes, mechanism.teachers, need_queries=queried)
            if weights is not None:
                rows = weighed_inputs(rows, weights, classes, self.file)
        elif weights is not None:
            rows = made_inputs(weights, classes)
        self._rows = rows
        for derived in ("asked", "second", "release"):  # by checks of the claim, before the file
            self.__dict__.pop(derived, None)

    @cached_property
    def asked(self) -> dict[tuple[int, ...], Input]:
        """The row that is asked for a histogram: of several, the first that has what is asked."""
        asked: dict[tuple[int, ...], Input] = {}
        for row in self._rows:
            if self.form in ("histogram", "query") or row.votes is not None:
                asked.setdefault(row.histogram, row)
        return asked

    @cached_property
    def second(self) -> dict[tuple[int, ...], Input]:
        """Another row with this histogram that is asked otherwise; none in the form "histogram"."""
        second: dict[tuple[int, ...], Input] = {}
        for row in self._rows:
            first = self.asked.get(row.histogram)
            if first is not None and self._content(row) not in (None, self._content(first)):
                second.setdefault(row.histogram, row)
        return second

    def _content(self, row: Input) -> Any:
        """What travels of a row; None where that is its histogram."""
        if self.form == "histogram":
            return None
        return row.votes if self.form != "query" else row.query

    @cached_property
    def release(self) -> Release:
        """How an input travels."""
        if self.form == "histogram":
            return LABELS
        return FormRelease(self.form, self._travelling(self.asked), self._travelling(self.second))

    def _travelling(self, rows: Mapping[tuple[int, ...], Input]) -> dict[tuple[int, ...], Any]:
        """By their histograms, what travels of rows."""
        if self.form != "query":
            return {votes: row.votes for votes, row in rows.items()}
        return {votes: json.loads(row.query or "null") for votes, row in rows.items()}
