"""What a deployment says of itself, read from TOML and checked line by line."""

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import PrivateAttr, ValidationError, model_validator

from ...claims.mistakes import mistakes
from ...claims.tables import (
    ANY_QUERIES,
    OF_LABELS,
    OF_NUMBERS,
    Gate,
    HttpClaim,
    LogClaim,
    MechanismClaim,
    PrivacyClaim,
    Table,
)
from ...inputs.files import ReadingError, found_from, read_bytes
from ...inputs.histogram_file import read_histograms
from ...inputs.input_file import Input, read_inputs
from ...targets.http_options import HttpOptions
from ...targets.input_forms import Form, FormRelease
from ...targets.labels import LABELS
from ...targets.release import Release
from ...targets.replies import one_line, shown_repr

__all__ = [
    "ANY_QUERIES",
    "OF_LABELS",
    "OF_NUMBERS",
    "Claim",
    "ClaimError",
    "Gate",
    "HttpClaim",
    "InputsClaim",
    "LogClaim",
    "MechanismClaim",
    "PrivacyClaim",
    "Table",
    "is_of_numbers",
    "parse_claim",
    "read_claim",
    "read_table",
]

CLAIM_BYTES = 1_000_000
"""No claim file is longer."""


class ClaimError(ValueError):
    """A claim that cannot be read, for the person who wrote it.

    mistakes: all that are known, one line each; the message is the first of them.
    """

    def __init__(self, *mistakes: str) -> None:
        others = len(mistakes) - 1
        plural = "s" if others > 1 else ""
        super().__init__(mistakes[0] + (f"; {others} more mistake{plural}" if others else ""))
        self.mistakes = mistakes


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

    def read(self, mechanism: MechanismClaim, folder: Path | None = None) -> None:
        """Reads the file, from the working directory or else from `folder`. Raises ValueError."""
        if self.file is not None:
            self._rows = read_inputs(
                found_from(self.file, folder),
                mechanism.classes,
                mechanism.teachers,
                need_queries=self.form == "query",
            )

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


class Claim(Table):
    """A deployment's claim; the defaults of `[gate]` are those of the public contract."""

    mechanism: MechanismClaim
    privacy: PrivacyClaim | None = None
    gate: Gate = Gate()
    http: HttpClaim | None = None
    log: LogClaim | None = None
    inputs: InputsClaim | None = None

    @model_validator(mode="after")
    def _no_kept_answers_of_inputs(self) -> Self:
        if self.mechanism.caching and self.inputs is not None:
            raise ValueError(
                "inputs: caching = true leaves one answer per input: ask them yourself, and judge "
                "the log of it, dpassay verify --log FILE"
            )
        return self

    @model_validator(mode="after")
    def _kept_answers_to_empty(self) -> Self:
        if self.gate.fresh_state is not None and not self.mechanism.caching:
            raise ValueError(
                "gate.fresh_state: it empties a store of kept answers, which only a claim with "
                "caching = true has"
            )
        return self

    @property
    def said(self) -> str:
        """The mechanism in a few words, as reports head themselves."""
        it = self.mechanism
        return f"{it.name} with {it.noise}, {it.classes} classes, {it.teachers} teachers"

    @property
    def releases(self) -> str:
        """What the deployment releases, in a word."""
        return "labels"

    @property
    def given(self) -> tuple[Input, ...]:
        """The inputs that alone are asked; none where any histogram is."""
        return () if self.inputs is None else self.inputs.rows

    @property
    def release(self) -> Release:
        """How an input of the deployment travels, `[inputs]` or a histogram as it is."""
        return LABELS if self.inputs is None else self.inputs.release

    def named(self, histogram: Iterable[int]) -> str:
        """What is asked for a histogram, as messages name it: a row of the inputs, or its votes."""
        votes = tuple(int(v) for v in histogram)
        row = None if self.inputs is None else self.inputs.asked.get(votes)
        return str(list(votes)) if row is None else row.name

    @property
    def http_options(self) -> HttpOptions:
        """How a server is spoken to, `[http]` or its defaults."""
        http = self.http or HttpClaim()
        return HttpOptions(http.headers, tuple(http.refusal_status), http.retry_503)

    def with_limits(self, max_queries: int | None, run_timeout: float | None) -> "Claim":
        """The same claim under other limits of a run, where they are given."""
        given = {"max_queries": max_queries, "run_timeout": run_timeout}
        changed = {key: value for key, value in given.items() if value is not None}
        return self.model_copy(update={"gate": self.gate.model_copy(update=changed)})


def is_of_numbers(table: dict[str, Any]) -> bool:
    """Whether a claim, as parsed TOML, names a mechanism that releases numbers."""
    mechanism = table.get("mechanism")
    return isinstance(mechanism, dict) and mechanism.get("name") in OF_NUMBERS


def _check_name(table: dict[str, Any], source: str) -> None:
    """Raises ClaimError for a mechanism that is none: what else is wrong depends on which it is."""
    mechanism = table.get("mechanism")
    name = mechanism.get("name") if isinstance(mechanism, dict) else None
    if not isinstance(name, str) or name in (*OF_LABELS, *OF_NUMBERS):
        return
    near = difflib.get_close_matches(name, (*OF_LABELS, *OF_NUMBERS), 1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise ClaimError(
        f"{source}: mechanism.name = {shown_repr(name)}: {meant}of labels: "
        f"{', '.join(OF_LABELS)}; of numbers: {', '.join(OF_NUMBERS)}"
    )


def parse_claim(table: dict[str, Any], source: str = "claim", folder: Path | None = None) -> Claim:
    """The claim in `table` (parsed TOML), its scope looked at. Raises ClaimError.

    folder: of the claim's file, where the inputs that it names may lie beside it.
    """
    _check_name(table, source)
    try:
        claim = Claim.model_validate(table)
    except ValidationError as error:
        if is_of_numbers(table):
            told = "it releases numbers, and a claim of labels is needed here"
            name = table["mechanism"]["name"]
            raise ClaimError(f'{source}: mechanism.name = "{name}": {told}') from None
        raise ClaimError(*(f"{source}: {line}" for line in mistakes(error, Claim))) from None
    if claim.privacy is not None and claim.privacy.scope != ANY_QUERIES:
        try:
            _check_scope(claim.privacy.scope, claim.mechanism)
        except ValueError as error:
            raise ClaimError(f"{source}: privacy.scope: {error}") from None
    if claim.inputs is not None:
        try:
            claim.inputs.read(claim.mechanism, folder)
        except ValueError as error:
            raise ClaimError(f"{source}: inputs.file: {error}") from None
    return claim


def read_claim(path: str | Path) -> Claim:
    """The claim in the TOML file at `path`. Raises ClaimError."""
    return parse_claim(read_table(path), str(path), Path(path).parent)


def read_table(path: str | Path) -> dict[str, Any]:
    """The TOML file at `path`, parsed and no more. Raises ClaimError."""
    try:
        text = read_bytes(str(Path(path)), CLAIM_BYTES)
    except ReadingError as error:
        raise ClaimError(f"{path}: {error}") from None
    try:
        return tomllib.loads(text.decode("utf-8-sig"))  # editors on Windows begin with a BOM
    except RecursionError:
        raise ClaimError(f"{path}: not TOML that can be read: nested too deeply") from None
    except ValueError as error:  # numbers of thousands of digits among them
        raise ClaimError(f"{path}: not TOML: {one_line(error)}") from None


def _check_scope(file: str, mechanism: MechanismClaim) -> None:
    """Raises ValueError for a file of histograms, from the working directory, of another claim."""
    for number, row in enumerate(read_histograms(file, again=True), 1):
        found, total = len(row.histogram), sum(row.histogram)
        if found != mechanism.classes or total != mechanism.teachers:
            raise ValueError(
                f"{file}, histogram {number}: {found} classes and {total} votes, but the claim has "
                f"{mechanism.classes} classes and {mechanism.teachers} teachers"
            )
