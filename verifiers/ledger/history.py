"""What the runs of a ledger have come to, as its lines tell it, run by run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from ...reference.arrays import Vector
from ..evidence.mixture import log_mixture_of
from ..evidence.scale import ScaleEvidence, factors_named
from ..findings.figures import LedgerOfCheck, LedgerScale, finite
from ..findings.finding import Finding
from ..findings.report import decimal_log
from ..findings.verdict import Verdict
from .chain import LedgerError
from .strands import WholeEvidence

FORMAT = 1


@dataclass(kw_only=True)
class KeptWhole(WholeEvidence):
    """The evidence of a check from a fresh start on, as a ledger has it.

    log_threshold: evidence that refutes without a ledger, natural log; names (p,): of the parts;
    key: what its runs have in common: the claim, the check's share of the error and its parts;
    of_build: the log e-values (p,) of each run of a build; failed: the run that has refuted the
    claim, its build and its finding.
    """

    log_threshold: float
    names: tuple[str, ...]
    key: str
    of_build: dict[str, list[Vector]] = field(default_factory=dict)
    failed: tuple[int, str, Finding] | None = None

    def add(self, build: str, logs: Vector) -> None:
        super().add(build, logs)
        self.of_build.setdefault(build, []).append(logs)


@dataclass
class KeptRun:
    """One run of a ledger.

    number: counted from 1; claim: its digest; ci: the number of the run in CI, "" where there was
    none; queries: at its last look; verdict: None of a run that did not end; checks: the evidence
    of all runs as this one ended; wholes: check -> the fresh start that it adds to; refuted: check
    -> code.
    """

    number: int
    began: datetime
    dpassay: str
    claim: str
    build: str
    ci: str
    queries: int = 0
    verdict: Verdict | None = None
    checks: list[LedgerOfCheck] = field(default_factory=list)
    wholes: dict[str, KeptWhole] = field(default_factory=dict)
    refuted: dict[str, str | None] = field(default_factory=dict)


class LedgerHistory:
    """The runs of a ledger, and the evidence that a further one goes on with.

    kind: of the claims, None where nothing is written yet; wholes: check -> its fresh starts.
    """

    def __init__(self, path: Path, entries: Sequence[Mapping[str, Any]]) -> None:
        """Adds up the runs of a file. Raises LedgerError for what is no ledger."""
        self.kind: str | None = None
        self.runs: list[KeptRun] = []
        self.wholes: dict[str, list[KeptWhole]] = {}
        try:
            self._replay(entries)
        except (KeyError, TypeError, ValueError, IndexError):
            raise LedgerError(f"{path}: no ledger of this version of dpassay") from None

    def scale_of(self, run: KeptRun) -> LedgerScale | None:
        """The scales that all runs of its build and claim leave; None where no check wagers so."""
        for whole in run.wholes.values():
            factors = factors_named(whole.names)
            if factors is not None:
                return scale_left(factors, whole.of_build[run.build], whole.log_threshold)
        return None

    def _replay(self, entries: Sequence[Mapping[str, Any]]) -> None:
        if not entries:
            return
        if entries[0]["entry"] != "ledger" or entries[0]["format"] != FORMAT:
            raise ValueError
        self.kind, last = entries[0]["kind"], None
        for entry in entries[1:]:
            if entry["entry"] == "begin":
                self._add(last)
                last = None
                self.runs.append(_begun(entry))
            elif entry["entry"] == "whole":
                weights = _from_json(entry["log_weights"])
                error, names = entry["share"] * entry["false_alarm"], tuple(entry["parts"])
                whole = KeptWhole(
                    rank=entry["rank"],
                    log_weights=weights,
                    log_threshold=-math.log(error),
                    names=names,
                    key=entry["key"],
                )
                self.wholes.setdefault(entry["check"], []).append(whole)
            else:
                last = entry
        self._add(last)

    def _add(self, last: Mapping[str, Any] | None) -> None:
        """Adds the newest run by its last look; None where it had none."""
        if last is None:
            return
        run = self.runs[-1]
        run.queries = last["queries"]
        run.verdict = None if last["entry"] != "end" else Verdict(last["verdict"])
        for name, look in last["checks"].items():
            whole, logs = self.wholes[name][look["whole"] - 1], _from_json(look["logs"])
            stands, run.wholes[name] = whole.failed, whole
            value = math.inf if stands else whole.log_value_with(run.build, logs)
            since = stands[0] if stands else None
            if look["queries"]:
                whole.add(run.build, logs)
            if "failed" in look:
                code, message = look["failed"]
                stands = whole.failed = run.number, run.build, Finding(message, code=code)
            if stands is not None:
                run.refuted[name] = stands[2].code
            run.checks.append(
                LedgerOfCheck(
                    id=name,
                    runs=whole.all_runs.runs,
                    log10_of_run=decimal_log(log_mixture_of(logs, whole.log_weights)),
                    log10_e_value=decimal_log(value),
                    threshold_log10=decimal_log(whole.log_threshold + whole.log_price),
                    since=since,
                )
            )


def scale_left(factors: Vector, runs: Sequence[Vector], log_threshold: float) -> LedgerScale | None:
    """The scales that runs together leave, by the log-likelihoods (f,) of each at the factors (f,).

    None where a run holds the claimed scale impossible.
    """
    if not all((logs < np.inf).all() for logs in runs):
        return None
    evidence = ScaleEvidence(factors)
    for logs in runs:
        evidence.add(logs)
    found = evidence.interval(log_threshold)
    low, high = (None, None) if found is None else (found[0], finite(found[1]))
    confidence = -math.expm1(-log_threshold)
    return LedgerScale(runs=len(runs), low=low, high=high, confidence=confidence)


def _begun(entry: Mapping[str, Any]) -> KeptRun:
    return KeptRun(
        number=entry["run"],
        began=datetime.fromisoformat(entry["at"]),
        dpassay=entry["dpassay"],
        claim=entry["claim"],
        build=entry["build"],
        ci=entry.get("ci", ""),
    )


def _from_json(logs: Sequence[float | str]) -> Vector:
    return np.array([float(value) for value in logs])
