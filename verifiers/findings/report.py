"""The report of a run: a document, from which terminal, page, JUnit, annotations and JSON are made.

`verify --json` prints it and `--report DIR` writes it as report.json. A report of an earlier
version is read by `Report.read`.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Required, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    computed_field,
    model_validator,
)
from typing_extensions import TypedDict

from .codes import SEVERITIES, codes
from .document import Count, Document
from .excluded import Excluded, Measured, NotLookedAt, Seeing, not_looked_at
from .figures import CheckFigures, LedgerRun, NoiseSpec, Votes
from .note import Fields, Note
from .uncovered import Uncovered
from .verdict import Subject, Verdict

__all__ = ["CheckResult", "Report", "Verdict"]

VERSION = 2
"""Of the report and of its schema: 1 had no codes."""

UNCODED = "uncoded"
"""The code of a finding of a report that was written before there were codes."""


def encodable(text: Any) -> Any:
    """A text whose lone surrogates, which a target's words may hold, are escaped."""
    return text.encode("utf-8", "backslashreplace").decode() if isinstance(text, str) else text


Text = Annotated[str, BeforeValidator(encodable), Field(json_schema_extra={"minLength": 1})]
Time = Annotated[
    datetime,
    PlainSerializer(
        lambda time: time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        return_type=str,
    ),
    Field(
        description="In UTC, ISO 8601.",
        json_schema_extra={"format": "date-time", "pattern": r"^\d{4}-\d\d-\d\dT[\d:.]+Z$"},
    ),
]
CodeName = Annotated[
    str, Field(pattern="^[a-z][a-z0-9-]*$", description="One of the table of codes.")
]

Allowed = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9-]*(:.+:\d+)?$",
        description="One of the table of codes, or one at a line of code.",
    ),
]


def decimal_log(nats: float) -> float:
    """Evidence as a decimal log; infinity, which JSON does not have, as 1e308."""
    return round(min(max(nats / math.log(10.0), -1e308), 1e308), 3)


class CheckResult(Document):
    """One check's verdict, with its evidence; null where a value does not apply to the check."""

    id: str = Field(
        pattern="^[a-z][a-z0-9-]*$",
        description="Of the check; of a warning that fails by fail_on its code.",
    )
    verdict: Verdict
    code: CodeName | None = Field(
        default=None,
        description="Of what was found, or of the reason why nothing was; null for a pass.",
    )
    fields: Fields = Field(
        default={},
        description="The parameters of the code.",
    )
    queries: Count = Field(
        default=0,
        description="Labels this check has seen; of numbers and keys, how many of them, or "
        "releases that it asked for itself; of a failed check with evidence, as it stood when that "
        "was highest.",
    )
    log10_e_value: float | None = Field(
        default=None,
        description="Evidence against the claim, the highest of any look where the check failed, "
        "1e308 where it is infinite; null where a check gathers none, or a build stands refuted.",
    )
    threshold_log10: Annotated[float, Field(gt=0.0)] | None = Field(
        default=None,
        description="Evidence that refutes: -log10 of the check's share of false_alarm.",
    )
    histogram: tuple[Count, ...] | None = Field(
        default=None,
        description="Votes per class where the finding shows.",
    )
    message: Text
    diagnosis: Text | None = Field(
        default=None,
        description="The likeliest cause.",
    )
    reproduce: Text | None = Field(
        default=None,
        description="The command that repeats the run.",
    )
    cut_short: bool = Field(
        default=False,
        description="Whether the run ended when another check, or the target, failed, so that this "
        "one says nothing of its own.",
    )
    rule: Literal["strict", "fail_on"] | None = Field(
        default=None,
        description="The key of [gate] by which a warning, or a reason, failed the check; null "
        "where the check itself came to its verdict.",
    )
    advice: tuple[Text, ...] = Field(
        default=(),
        description="What could be done about what was found, a line each.",
    )
    excludes: tuple[Excluded, ...] = Field(
        default=(),
        description="What a pass excludes, foreseen from the claim, the budget, the seed, and "
        "which inputs were answered. Empty where the check did not pass, or says nothing of it.",
    )
    measured: Measured | None = Field(
        default=None,
        description="What the answers left of a quantity, of a pass, and where the scale of the "
        "noise was refuted.",
    )
    figures: CheckFigures | None = Field(
        default=None,
        description="What the page draws of the check, in numbers; null where nothing.",
    )

    @property
    def gravity(self) -> tuple[int, int, float]:
        """Place among other results, the gravest first: verdict, severity, the row of a log."""
        known = codes().get(self.code or "")
        grave = len(SEVERITIES) if known is None else known.gravity
        row = self.fields.get("row")
        return self.verdict.rank, grave, row if isinstance(row, int) else math.inf

    @property
    def seeing(self) -> Seeing:
        """What the check has seen, for what was not looked at."""
        nothing = self.verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE)
        if nothing or self.rule is not None:
            return Seeing(self.id, lacking=Note(self.code or UNCODED, self.message, self.fields))
        return Seeing(self.id, self.excludes, failed=self.verdict is not Verdict.PASS)

    def without_pass(self, verdict: Verdict, why: Note, message: str | None = None) -> Self:
        """The result with another verdict than its pass, which then excludes nothing."""
        return self.model_copy(
            update={
                "verdict": verdict,
                "code": why.code,
                "fields": why.fields,
                "message": why.message if message is None else message,
                "excludes": (),
                "measured": None,
            }
        )

    @classmethod
    def of(cls, check: str, verdict: Verdict, note: Note, queries: int = 0) -> Self:
        """The result of a check that says no more than why it says nothing."""
        return cls(
            id=check,
            verdict=verdict,
            message=note.message,
            queries=queries,
            code=note.code,
            fields=note.fields,
        )


def fails_by_rule_alone(checks: Iterable[CheckResult]) -> bool:
    """Whether what fails a run is `fail_on` of its user alone, which accuses no deployment."""
    rules = [check.rule for check in checks if check.verdict is Verdict.FAIL]
    return bool(rules) and set(rules) == {"fail_on"}


class Opening(Document):
    """The first calls of a run, which a later run can compare its own with."""


class LabelsOpening(Opening):
    """Labels of a histogram, as the target answered them."""

    histogram: Votes
    labels: tuple[Annotated[int, Field(ge=-1)], ...] = Field(min_length=1)


class ReleasesOpening(Opening):
    """Releases of one input; of keys the counts, and 1 where a key was released."""

    exact: tuple[float, ...] = Field(
        min_length=1, description="The numbers of the input, 64 at most."
    )
    releases: tuple[tuple[float, ...], ...] = Field(
        min_length=1, description="What was released in their place."
    )


_OPEN = ConfigDict(extra="allow", json_schema_serialization_defaults_required=False)


class MechanismTable(TypedDict, total=False):
    """The `[mechanism]` of a claim; each kind of release has keys of its own beside these."""

    __pydantic_config__ = _OPEN  # type: ignore[misc]
    name: Required[str]
    noise: NoiseSpec
    classes: Annotated[int, Field(ge=2)]
    teachers: Annotated[int, Field(ge=1)]
    threshold: float
    threshold_noise: NoiseSpec
    adjacency: Literal["add-remove", "replace-one"]
    unit: Literal["record", "user", "teacher"]


class ClaimTables(TypedDict, total=False):
    """The tables of a claim, as far as every claim has them; others stand beside them."""

    __pydantic_config__ = _OPEN  # type: ignore[misc]
    mechanism: Required[MechanismTable]
    gate: Required[dict[str, Any]]


class Report(Document):
    """The report of one run.

    Keys may be added in later versions, and check ids and codes too; none is renamed or removed.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                {
                    "if": {"properties": {"verdict": {"const": "fail"}}},
                    "then": {
                        "properties": {
                            "checks": {"contains": {"properties": {"verdict": {"const": "fail"}}}}
                        }
                    },
                    "else": {
                        "properties": {
                            "checks": {
                                "items": {"properties": {"verdict": {"not": {"const": "fail"}}}}
                            }
                        }
                    },
                },
                {
                    "if": {
                        "properties": {
                            "verdict": {"const": "pass"},
                            "claim": {
                                "properties": {"gate": {"properties": {"require": {"maxItems": 0}}}}
                            },
                        }
                    },
                    "then": {
                        "properties": {
                            "checks": {
                                "items": {
                                    "properties": {"verdict": {"enum": ["pass", "not-applicable"]}}
                                }
                            }
                        }
                    },
                },
            ]
        }
    )

    schema_version: int = Field(default=VERSION, ge=1)
    verdict: Verdict = Field(
        json_schema_extra={"enum": ["pass", "fail", "inconclusive", "error"]},
        description="The worst of the checks in the order fail, error, inconclusive, pass; exit "
        "status 1, 2, 3, 0.",
    )
    meaning: Text = Field(description="What the run found, in a sentence.")
    target: Text | None = Field(
        default=None,
        description="As the user named it, without credentials; null for an object handed over in "
        "Python.",
    )
    subject: Subject = Field(
        default=Subject.DEPLOYMENT,
        description="What the run speaks of: `reference` where no target was named, so that the "
        "reference implementation was asked, and `claim` where what was found is of the claim by "
        "itself, which asks nobody.",
    )
    kind: str = Field(
        default="labels",
        description="What the deployment releases, in a word.",
    )
    unit: str = Field(
        default="queries",
        description="What checks count.",
    )
    claimed: Text = Field(description="The claim in a few words.")
    started: Time | None = Field(default=None, description="Null in the oldest reports.")
    ended: Time | None = None
    queries: Count = Field(
        description="Labels asked of the target, or rows of the log that was judged; of numbers "
        "and keys, releases."
    )
    found_after: Count | None = Field(
        default=None,
        description="Queries after which the first check was refuted; those that follow serve the "
        "diagnosis. Null where none was.",
    )
    seconds: float = Field(ge=0.0)
    seed: Count = Field(description="Fixes the histograms, or other inputs, that are asked.")
    false_alarm: float = Field(
        gt=0.0,
        le=0.5,
        description="Probability that a correct deployment gets fail, all checks together.",
    )
    claim: ClaimTables = Field(description="The claim as it was read, defaults filled in.")
    versions: dict[str, str] = Field(json_schema_extra={"required": ["dpassay", "python"]})
    notes: tuple[Note, ...] = Field(
        default=(),
        description="The warnings, each with its code.",
    )
    uncovered: tuple[Uncovered, ...] = Field(
        default=(),
        description="Of a pass, what the file of --coverage says was not exercised.",
    )
    opening: LabelsOpening | ReleasesOpening | None = Field(
        default=None,
        description="The first calls of the run, which --compare holds beside those of another; "
        "null where they were not answered.",
    )
    checks: tuple[CheckResult, ...] = Field(min_length=1)
    waived: tuple[Allowed, ...] = Field(
        default=(),
        description="Codes that would have failed the run, but for `allow` in [gate], and lines of "
        "code whose warnings it spares, as `path-never:file.py:12`.",
    )
    ledger: LedgerRun | None = Field(
        default=None,
        description="With --ledger: what the run has added to it; null without one.",
    )
    interrupted: bool = Field(
        default=False,
        description="Whether the user ended the run.",
    )
    asked: bool = Field(
        default=True,
        description="Whether a target was asked, rather than a log read.",
    )

    @property
    def headline(self) -> str | None:
        """What the run speaks of in a few words, where no deployment was asked; None else."""
        return None if self.subject is Subject.DEPLOYMENT else self.subject.words

    @property
    def error_rate(self) -> str | None:
        """The probability of a wrong fail, in words; None where a verdict has none to tell."""
        if self.verdict is Verdict.ERROR:
            return None
        if fails_by_rule_alone(self.checks):
            return "a rule of your own failed this run, which no error rate covers"
        if self.subject is not Subject.CLAIM:
            shared = "; what the ledger adds up has its share of that once, for all of its runs"
            return (
                f"a correct deployment fails this run with probability at most {self.false_alarm:g}"
                f"{'' if self.ledger is None else shared}"
            )
        proof = "a proof refutes the claim: it has no error rate"
        return proof if self.verdict is Verdict.FAIL else None

    _slow: "Slow" = PrivateAttr(default_factory=dict)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def warnings(self) -> tuple[str, ...]:
        """What else a reader must know, a line each."""
        return tuple(note.message for note in self.notes)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def not_looked_at(self) -> tuple[NotLookedAt, ...]:
        """The faults of which this run says nothing, each with the reason; none of a log."""
        seeing = (check.seeing for check in self.checks)
        return not_looked_at(self.kind, self.claim, seeing) if self.asked else ()

    @property
    def whole(self) -> Self:
        """The report with the figures that take seconds, which a terminal does not show."""
        if not self._slow:
            return self
        checks = tuple(
            self._slow[check.id](check) if check.id in self._slow else check
            for check in self.checks
        )
        return self.model_copy(update={"checks": checks})

    def public(self) -> dict[str, Any]:
        return super(Report, self.whole).public()

    @classmethod
    def read(cls, public: Any) -> Self:
        """A report from its JSON object, of this version or an earlier one.

        Raises pydantic.ValidationError for one that is none.
        """
        return cls.model_validate(public)

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, public: Any) -> Any:
        """Warnings had no codes in version 1, and the first reports said less of themselves."""
        if not isinstance(public, Mapping) or "schema_version" in public or "notes" in public:
            return public
        claim = public.get("claim")
        mechanism = claim.get("mechanism") if isinstance(claim, Mapping) else None
        if not isinstance(mechanism, Mapping) or public.get("verdict") not in list(Verdict):
            return public
        labels, warned = "classes" in mechanism, public.get("warnings", ())
        return {
            "schema_version": 1,
            "kind": "labels" if labels else "numbers",
            "unit": "queries" if labels else "draws",
            "meaning": Verdict(public["verdict"]).meaning,
            "claimed": " with ".join(str(mechanism.get(key)) for key in ("name", "noise")),
            "notes": [{"code": UNCODED, "message": line} for line in warned],
            **public,
        }


Slow = Mapping[str, Callable[[CheckResult], CheckResult]]
"""For checks, by their id: the result with figures that take seconds."""
