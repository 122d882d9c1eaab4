"""One run of a ledger: what runs before it brought, what this one adds, and how it is judged.

Entries: `begin` of a run, on the disk before the first question; `whole` of a check, where its
evidence begins, with the parts of its mixture and their weights; `look`, written before anybody is
shown how far the run is; `end`. A run without an end counts with its last look.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ...reference.arrays import Vector
from ..evidence.parts import Parts
from ..findings.figures import LedgerOfCheck, LedgerRun, LedgerScale
from ..findings.finding import Finding
from ..findings.report import decimal_log
from ..text import counted
from .chain import LedgerError, SealedLines
from .history import FORMAT, KeptWhole, LedgerHistory, scale_left

_GROWTH = 1.25  # of the queries from one look that is written to the next
_STEPS = 1e4  # to a nat, of log e-values, which are rounded down
_NO_NULL = ("gate", "http", "log")
"""Tables of a claim that say how it is asked, and nothing of what is claimed."""


class CarriedEvidence:
    """A check in one run, with what runs before it have brought.

    share: of `false_alarm`; needed: the evidence of all runs that refutes, natural log; parts,
    queries: of the last look; failed: the finding once the claim is refuted.
    """

    def __init__(
        self, ledger: "EvidenceLedger", check: str, share: float, log_threshold: float
    ) -> None:
        self._ledger, self.check, self.share = ledger, check, share
        self.log_threshold = self.needed = log_threshold
        self.whole: KeptWhole | None = None
        self.parts: Parts | None = None
        self.queries, self.log_value = 0, 0.0
        self.failed: Finding | None = None

    def look(self, parts: Parts, queries: int) -> float:
        """Evidence of all runs and of this one so far, natural log; infinite where it stands."""
        if self.whole is None:
            self.whole = self._ledger.whole_of(self, parts)
            self.needed = self.log_threshold + self.whole.log_price
        self.parts, self.queries = parts, queries
        self.log_value = math.inf
        if self.whole.failed is None:
            self.log_value = self.whole.log_value_with(self._ledger.build, parts.logs)
        return self.log_value

    def told(self, finding: Callable[[], Finding]) -> Finding:
        """What is said of the claim once it is refuted; finding: of this run by itself."""
        whole, parts = self._seen
        if whole.failed is not None:
            run, build, stands = whole.failed
            words = (
                f"this build ({build}) stands refuted since run {run} of the ledger, and no more "
                "is asked of it but with --keep-going; once mended it takes another --build. Run "
                f"{run} found"
            )
            found = replace(stands, message=f"{words}: {stands.message}")
        else:
            found, before = finding(), whole.all_runs.runs
            if before and parts.log_e_value < self.log_threshold:
                runs = counted(before, "run", "runs")
                words = f"of this run alone; with {runs} before in the ledger it is refuted"
                found = replace(found, message=f"{found.message} ({words})")
        self.failed = found
        return found

    @property
    def since(self) -> int | None:
        """The run before that has refuted the claim of this build, which stands; None of others."""
        return self.whole.failed[0] if self.whole is not None and self.whole.failed else None

    @property
    def _seen(self) -> tuple[KeptWhole, Parts]:
        """The evidence it goes on with, and that of this run, once there was a look."""
        assert self.whole is not None
        assert self.parts is not None
        return self.whole, self.parts

    @property
    def public(self) -> dict[str, Any]:
        """Its last look, as a line of the file has it."""
        whole, parts = self._seen
        logs = _as_json(np.floor(parts.logs * _STEPS) / _STEPS)
        found: dict[str, Any] = {"whole": whole.rank, "queries": self.queries, "logs": logs}
        if self.failed is not None and whole.failed is None:
            found["failed"] = [self.failed.code, self.failed.message]
        return found

    @property
    def figure(self) -> LedgerOfCheck:
        """What a report says of it."""
        whole, parts = self._seen
        return LedgerOfCheck(
            id=self.check,
            runs=whole.all_runs.runs + bool(self.queries),
            log10_of_run=decimal_log(parts.log_e_value),
            log10_e_value=decimal_log(self.log_value),
            threshold_log10=decimal_log(self.needed),
            since=self.since,
        )

    @property
    def scale(self) -> LedgerScale | None:
        """The scales that all runs of the build leave; None where its parts are no scales."""
        whole, parts = self._seen
        if parts.factors is None:
            return None
        before = whole.of_build.get(self._ledger.build, [])
        own = [parts.logs] if self.queries else []
        return scale_left(parts.factors, before + own, self.log_threshold)


class EvidenceLedger:
    """A ledger that one run adds to, from its `begin` to its `end`.

    run: its number, counted from 1; build: of the target.
    """

    def __init__(self, chain: SealedLines, claim: Any, build: str) -> None:
        """Reads what runs before it have left. Raises LedgerError for what is no ledger."""
        self.chain, self.build = chain, build
        self._claim, self._false_alarm = claim_digest(claim), claim.gate.false_alarm
        self._checks: dict[str, CarriedEvidence] = {}
        self._written, self._failed = 0, 0
        self._kind = claim.kind.name
        history = LedgerHistory(chain.path, chain.entries)
        self.run, self._wholes, kind = len(history.runs) + 1, history.wholes, history.kind
        if kind not in (None, self._kind):  # whose checks have shares of their own, of 1 in all
            raise LedgerError(
                f"{chain.path}: a ledger of claims of {kind}, and this one is of "
                f"{self._kind}: expected a file for each kind"
            )

    def begin(self) -> None:
        """Writes that a run begins: once it is sure to ask, and before the first question."""
        if not self.chain.entries:
            self.chain.append({"entry": "ledger", "format": FORMAT, "kind": self._kind})
            self.chain.told.append("begun with this run: what earlier ones have found is not in it")
        self.chain.append(
            {
                "entry": "begin",
                "run": self.run,
                "at": datetime.now(UTC).isoformat(timespec="seconds"),
                "dpassay": version("dpassay"),
                "claim": self._claim,
                "build": self.build,
                **_run_of_ci(),
            }
        )

    def carried(self, check: str, share: float, log_threshold: float) -> CarriedEvidence:
        """What a check of this run is judged with."""
        return self._checks.setdefault(check, CarriedEvidence(self, check, share, log_threshold))

    def whole_of(self, carried: CarriedEvidence, parts: Parts) -> KeptWhole:
        """The evidence that a check goes on with, or a new one, which is written at once.

        One that has refuted the claim stands for the build that it refuted; another build, another
        claim, other parts or weights begin anew, for a part of the check's error.
        """
        weights = _as_json(parts.log_weights)
        null = [self._claim, carried.share, self._false_alarm, list(parts.names), weights]
        key = hashlib.sha256(json.dumps(null).encode()).hexdigest()
        wholes = self._wholes.setdefault(carried.check, [])
        same = [whole for whole in wholes if whole.key == key]
        refuted = [one for one in same if one.failed is not None and one.failed[1] == self.build]
        going_on = [whole for whole in same if whole.failed is None]
        if refuted or going_on:
            return [*refuted, *going_on][0]
        wholes.append(
            KeptWhole(
                rank=len(wholes) + 1,
                log_weights=parts.log_weights,
                log_threshold=carried.log_threshold,
                names=parts.names,
                key=key,
            )
        )
        entry = {"entry": "whole", "check": carried.check, "rank": len(wholes), "key": key}
        head = {"claim": self._claim, "share": carried.share, "false_alarm": self._false_alarm}
        self.chain.append({**entry, **head, "parts": list(parts.names), "log_weights": weights})
        return wholes[-1]

    def look(self, queries: int) -> None:
        """Writes how the checks stand, if that is due: before anybody is shown how the run stands.

        As often as the queries have grown by a quarter, and at once where a check has failed.
        """
        failed = sum(one.failed is not None for one in self._checks.values())
        if failed > self._failed or queries >= _GROWTH * max(self._written, 1):
            self._written, self._failed = queries, failed
            self._write("look", queries)

    def end(self, queries: int, verdict: str) -> LedgerRun:
        """Writes how the checks stand at the end of the run, and returns what a report says."""
        self._write("end", queries, verdict=verdict)
        seen = [one for one in self._checks.values() if one.queries or one.since]
        scales = [one.scale for one in seen if one.scale is not None]
        builds = {entry["build"]: None for entry in self.chain.entries if entry["entry"] == "begin"}
        return LedgerRun(
            file=self.chain.path.name,
            seal=self.chain.seal,
            run=self.run,
            build=self.build,
            builds=len(builds),
            told=tuple(self.chain.told),
            checks=tuple(one.figure for one in seen),
            scale=scales[0] if scales else None,
        )

    def _write(self, entry: str, queries: int, **more: str) -> None:
        told = {name: one for name, one in self._checks.items() if one.queries or one.since}
        seen = {name: one.public for name, one in told.items()}
        line = {"entry": entry, "run": self.run, "queries": queries, **more, "checks": seen}
        self.chain.append(line)


@contextmanager
def open_ledger(
    path: str, claim: Any, build: str, wait: Callable[[str], None]
) -> Iterator[EvidenceLedger]:
    """A ledger for one run of a claim, which holds it alone until the block ends.

    wait: told in one line where another run holds it. Raises LedgerError of one line.
    """
    chain = SealedLines(Path(path), wait)
    try:
        yield EvidenceLedger(chain, claim, build)
    finally:
        chain.close()


def _run_of_ci() -> dict[str, str]:
    """The number of the run in CI, whose gaps tell runs that were made without the ledger."""
    numbers = (os.environ.get(name) for name in ("GITHUB_RUN_NUMBER", "CI_PIPELINE_IID"))
    return {"ci": found} if (found := next(filter(None, numbers), None)) else {}


def claim_digest(claim: Any) -> str:
    """The SHA-256 of what a claim says of the deployment."""
    return digest_of(claim.model_dump(mode="json", exclude_none=True))


def digest_of(tables: Mapping[str, Any]) -> str:
    """That of the tables of a claim, as a report has them."""
    said = {table: value for table, value in tables.items() if table not in _NO_NULL}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _as_json(logs: Vector) -> list[float | str]:
    """Logs with infinities, which JSON does not have, as words."""
    return [value if math.isfinite(value) else str(value) for value in logs.tolist()]
