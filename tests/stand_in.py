"""A gate that finds what it is told to find, for tests of those who run the gate.

`ORDER` is that of the words in which a failure is told.
"""

import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from claims import gnmax, in_toml

from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.of_run import Ended, report_of
from dpassay.verifiers.findings.report import CheckResult, Report, Verdict
from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.labels.registry import SHARES

CLAIM = in_toml(mechanism=gnmax(4, 3, 30), gate={"smallest_effect": 0.2, "tolerance": 0.4})

TABLE = tomllib.loads(CLAIM)

SPECIAL = {
    "class-probabilities": CheckResult(
        id="class-probabilities",
        verdict=Verdict.FAIL,
        message="label 2 came 3 times",
        queries=69,
        log10_e_value=21.7,
        threshold_log10=6.5,
        histogram=(30, 0, 0),
        diagnosis="labels fit gaussian:2",
        reproduce="dpassay verify x:y --claim claim.toml --seed 7",
    ),
    "noise-scale": CheckResult(
        id="noise-scale",
        verdict=Verdict.INCONCLUSIVE,
        message="others failed",
        reproduce="again",
        cut_short=True,
    ),
    "fresh-noise": CheckResult(
        id="fresh-noise", verdict=Verdict.ERROR, message="aggregate([1]) raised KeyError"
    ),
    "abstention": CheckResult(
        id="abstention", verdict=Verdict.NOT_APPLICABLE, message="gnmax refuses no query"
    ),
}
ORDER = ("observed: ", "allowed: ", "likely cause: ", "reproduce: ")


class Gate:
    """Stands in for `verify`: keeps what it was asked for, and finds what it was told to find."""

    def __init__(
        self, special: dict[str, CheckResult] | None = None, interrupted: bool = False
    ) -> None:
        self.special, self.interrupted = special or {}, interrupted
        self.runs: list[tuple[int | None, str | None]] = []
        self.asked: list[tuple[int | None, float | None]] = []
        self.builds: list[str] = []

    def __call__(
        self,
        target: Any,
        claim: LabelsClaim,
        *,
        seed: int | None = None,
        reproduce: Any = None,
        queries: int | None = None,
        ledger: Any = None,
        **_: Any,
    ) -> Report:
        self.builds += [ledger.build] if ledger else []
        self.asked.append((queries, claim.gate.run_timeout))
        self.runs.append((seed, reproduce))
        checks = [
            self.special.get(name) or CheckResult(id=name, verdict=Verdict.PASS, message="ok")
            for name in SHARES
        ]
        ended = Ended(datetime.now(UTC), 0.1, interrupted=self.interrupted)
        notes = [Note("recoverable-without-limit", "it leaks")]
        return report_of(claim, checks, ended, queries=69, seed=7, notes=notes)


def in_order(text: str, words: Sequence[str]) -> bool:
    places = [text.index(word) for word in words]
    return places == sorted(places)
