"""What a deployment that releases labels says of itself, read from TOML and checked."""

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import PrivateAttr, model_validator

from ...claims.claim import Claim, ClaimError
from ...claims.tables import ANY_QUERIES, AccountantClaim, Table
from ...findings.note import Note
from ...inputs.files import found_from
from ...inputs.histogram_file import read_histograms
from ...inputs.input_file import Input, read_inputs
from ...inputs.log_names import PLAIN
from ...inputs.release_log import RowReader
from ...run.checks import NO_PRIVACY
from ...targets.labels import LABELS, Form, FormRelease
from ...targets.release import Release
from .log_claim import LogClaim
from .mechanism import LabelsMechanism
from .weighted import made_inputs, weighed_inputs

Charges = Literal["all", "realised", "data-independent"]
"""What a query is charged.

"all": as much whatever its outcome; "realised": its screening, and its answer only when it is
given; "data-independent": as much whatever the votes.
"""


class LabelsAccountant(AccountantClaim):
    """`[accountant]` of labels: what its charges depend on too, where the claim says so."""

    charges: Charges | None = None


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


BY_OUTCOME = Note(
    "charged-by-outcome",
    "charges = 'realised': the budget ends by what was answered, so that no number of queries says "
    "what they cost; the charges are judged, and that the deployment stops",
)


class LabelsClaim(Claim):
    """The claim of a deployment that releases labels."""

    mechanism: LabelsMechanism
    accountant: LabelsAccountant | None = None
    log: LogClaim | None = None
    inputs: InputsClaim | None = None

    @model_validator(mode="after")
    def _of_labels(self) -> Self:
        """Raises ValueError for what no deployment of labels can claim."""
        mechanism, inputs = self.mechanism, self.inputs
        if mechanism.caching and inputs is not None:
            raise ValueError(
                "inputs: caching = true leaves one answer per input: ask them yourself, and judge "
                "the log of it, dpassay verify --log FILE"
            )
        if mechanism.weights is not None and (inputs is None or inputs.form == "histogram"):
            raise ValueError(
                "mechanism.weights: the target must get each teacher's vote: [inputs] with form = "
                '"votes" or "one-hot", or "query" and a file with votes'
            )
        if mechanism.weights is not None and self.privacy is not None:
            raise ValueError(
                "privacy: with weights no epsilon of all queries is judged: leave the table out; "
                "what an accountant charges is held to the heaviest teacher"
            )
        if self.gate.fresh_state is not None and not mechanism.caching:
            raise ValueError(
                "gate.fresh_state: it empties a store of kept answers, which only a claim with "
                "caching = true has"
            )
        if self.charges == "realised" and not mechanism.refuses:
            raise ValueError(
                f"accountant.charges = 'realised': {mechanism.name} refuses no query, so that all "
                "are answered: expected 'all' or 'data-independent'"
            )
        named = {} if self.log is None else {"labels": self.log.labels, "histogram": self.log.votes}
        for key, names in named.items():
            if names and len(names) != mechanism.classes:
                raise ValueError(
                    f"log.{key}: {len(names)} names of {mechanism.classes} classes: expected one "
                    "of each, in their order"
                )
        return self

    @property
    def refuses(self) -> bool:
        return self.mechanism.refuses

    @property
    def uncounted(self) -> Note | None:
        """Why [privacy] is not held to what so many queries cost; None where it is."""
        if self.privacy is None:
            return NO_PRIVACY
        return BY_OUTCOME if self.charges == "realised" else None

    @property
    def charges(self) -> Charges | None:
        """What the charges of the deployment's accountant depend on; None where it does not say."""
        return None if self.accountant is None else self.accountant.charges

    @property
    def leaves_out_refusals(self) -> bool:
        """Whether its log leaves out refused queries."""
        return self.log is not None and self.log.refusals == "left-out"

    def log_reader(self, header: str | None = None, last_time: float | None = None) -> RowReader:
        """The reader for its log; header, last_time: of the part already read."""
        refuses = self.refuses and not self.leaves_out_refusals
        given = {row.key: row.histogram for row in self.given if row.key is not None}
        names = PLAIN if self.log is None else self.log.names
        return RowReader(
            self.mechanism.classes, refuses, header, last_time, given=given, names=names
        )

    @property
    def summary(self) -> str:
        return self.mechanism.summary

    @property
    def given(self) -> tuple[Input, ...]:
        """The inputs that alone are asked; none where any histogram is."""
        return () if self.inputs is None else self.inputs.rows

    @property
    def one_total(self) -> bool:
        """Whether a run asks the votes of all teachers alone: no other totals.

        Of inputs that are given or large; where teachers are drawn, since what is drawn of others
        is not claimed; and of one teacher who votes otherwise, as a local randomiser takes one
        class and no votes.
        """
        large, it = self.inputs is not None and self.inputs.is_large, self.mechanism
        local = it.teachers == 1 and it.adjacency == "replace-one"
        return bool(self.given) or large or it.sampled is not None or local

    @property
    def release(self) -> Release:
        """How an input of the deployment travels, `[inputs]` or a histogram as it is."""
        return LABELS if self.inputs is None else self.inputs.release

    def named(self, histogram: Iterable[int]) -> str:
        """What is asked for a histogram, as messages name it: a row of the inputs, or its votes."""
        votes = tuple(int(v) for v in histogram)
        row = None if self.inputs is None else self.inputs.asked.get(votes)
        return str(list(votes)) if row is None else row.name

    @classmethod
    def checked(
        cls, table: dict[str, Any], source: str = "claim", folder: Path | None = None
    ) -> Self:
        """With the files of its scope and its inputs, which are read."""
        claim, key = super().checked(table, source, folder), "privacy.scope"
        try:
            if claim.privacy is not None and claim.privacy.scope != ANY_QUERIES:
                _check_scope(claim.privacy.scope, claim.mechanism)
            key = "inputs.file"
            if claim.inputs is not None:
                claim.inputs.read(claim.mechanism, folder)
        except ValueError as error:
            raise ClaimError(f"{source}: {key}: {error}") from None
        return claim


def _check_scope(file: str, mechanism: LabelsMechanism) -> None:
    """Raises ValueError for a file of histograms, from the working directory, of another claim."""
    for number, row in enumerate(read_histograms(file, again=True), 1):
        found, total = len(row.histogram), sum(row.histogram)
        if found != mechanism.classes or total != mechanism.teachers:
            raise ValueError(
                f"{file}, histogram {number}: {found} classes and {total} votes, but the claim has "
                f"{mechanism.classes} classes and {mechanism.teachers} teachers"
            )
