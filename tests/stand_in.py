"""A gate that finds what it is told to find, for tests of those who run the gate.

`ORDER` is that of the words in which a failure is told.
"""

import tomllib
from collections.abc import Sequence
from typing import Any

from claims import gnmax, in_toml

from dpassay.verifiers.findings.report import CheckResult, Report, Verdict
from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.labels.registry import SHARES

CLAIM = in_toml(mechanism=gnmax(4, 3, 30), gate={"smallest_effect": 0.2, "tolerance": 0.4})

TABLE = tomllib.loads(CLAIM)

SPECIAL = {
    "class-probabilities": CheckResult(
        "class-probabilities",
        Verdict.FAIL,
        "label 2 came 3 times",
        69,
        50.0,
        15.0,
        (30, 0, 0),
        "labels fit gaussian:2",
        "dpassay verify x:y --claim claim.toml --seed 7",
    ),
    "noise-scale": CheckResult(
        "noise-scale", Verdict.INCONCLUSIVE, "others failed", reproduce="again", cut_short=True
    ),
    "fresh-noise": CheckResult("fresh-noise", Verdict.ERROR, "aggregate([1]) raised KeyError"),
    "abstention": CheckResult("abstention", Verdict.NOT_APPLICABLE, "gnmax refuses no query"),
}
ORDER = ("observed: ", "allowed: ", "likely cause: ", "reproduce: ")


class Gate:
    """Stands in for `verify`: counts its runs, and finds what it was told to find."""

    def __init__(
        self, special: dict[str, CheckResult] | None = None, interrupted: bool = False
    ) -> None:
        self.special, self.interrupted = special or {}, interrupted
        self.runs: list[tuple[int | None, str | None]] = []

    def __call__(
        self,
        target: Any,
        claim: LabelsClaim,
        *,
        seed: int | None = None,
        reproduce: Any = None,
        **_: Any,
    ) -> Report:
        self.runs.append((seed, reproduce))
        checks = [
            self.special.get(name) or CheckResult(name, Verdict.PASS, "ok") for name in SHARES
        ]
        return Report(claim, 69, 0.1, 7, tuple(checks), ("it leaks",), interrupted=self.interrupted)


def in_order(text: str, words: Sequence[str]) -> bool:
    places = [text.index(word) for word in words]
    return places == sorted(places)
