"""A deployment's ledger: every answer is charged, on disk, before it is released.

An append-only file of JSON lines, locked while it is read and written, so that threads and
processes may share it; replayed on start. What a crash left half-written is charged as an answer.
"""

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..budget import BudgetExhausted
from ..mechanisms import InteractiveGNMax, KnownMechanism, UnknownMechanismError
from ..searches import last_from_zero
from .analyses import CountedCost

_FORMAT = 1


class Ledger:
    """Charges queries against a budget by the data-independent analysis, so for any votes.

    path: of the file, made where it is missing; mechanism: of every query; delta; budget: epsilon
    that must not be exceeded. A refused query of Confident-GNMax is charged its test, an answered
    one test and answer: the refusal is an outcome like any other, and composition may adapt to it.
    Of Interactive-GNMax a query counts as refused where the teachers gave no label, be the
    student's confirmed or not; its prediction may change from query to query, as no charge
    depends on it. Neighbours are ensembles of which one teacher votes otherwise.
    Raises ValueError for a mechanism it does not know, or a file of another mechanism.
    Sources: Papernot et al. 2018 (arXiv 1802.08908v1); Feldman and Zrnic 2021 (arXiv 2008.11193v4)
    for stopping at a budget that costs adapt to.
    """

    def __init__(
        self, path: str | Path, mechanism: KnownMechanism, *, delta: float, budget: float
    ) -> None:
        if not isinstance(mechanism, KnownMechanism):
            raise UnknownMechanismError(mechanism, "a ledger")
        if not 0 < delta < 1:
            raise ValueError(f"delta {delta:g}: expected a number between 0 and 1")
        if not budget > 0:
            raise ValueError(f"budget {budget:g}: expected a positive epsilon")
        self.path, self.mechanism, self.delta, self.budget = Path(path), mechanism, delta, budget
        self._named, self._cost = _named(mechanism), CountedCost(mechanism)
        self._threads = threading.Lock()
        with self._locked():
            pass

    @property
    def spent(self) -> float:
        """Epsilon spent so far at the ledger's delta."""
        return self.spent_at(self.delta)

    def spent_at(self, delta: float) -> float:
        """Epsilon spent so far at a delta. Raises ValueError for one outside (0, 1)."""
        if not 0 < delta < 1:
            raise ValueError(f"delta {delta:g}: expected a number between 0 and 1")
        with self._locked() as (answered, refused, _):
            return self._cost.epsilon(answered, refused, delta)

    def charge(self, answered: int = 1, refused: int = 0) -> None:
        """Charges queries about to be released; returns once the charge is on disk.

        Draw, charge, release:

            labels = mechanism.sample(votes, size)
            ledger.charge(int((labels >= 0).sum()), int((labels < 0).sum()))

        Raises BudgetExhausted, and charges nothing, where the budget would be exceeded were all of
        them answered: whether it is raised then depends on how many they are, not on which were
        refused, and says nothing of the votes. ValueError for negative numbers, or refusals of a
        mechanism that has none.
        """
        if answered < 0 or refused < 0:
            raise ValueError(f"{answered} answered, {refused} refused: expected numbers from 0")
        if refused and not self.mechanism.refuses:
            raise ValueError(f"{refused} refused: the mechanism refuses no query")
        with self._locked() as (before, without, write):
            most = self._epsilon(before + answered + refused, without)
            if most > self.budget:
                raise BudgetExhausted(f"epsilon {most:.4f} would exceed {self.budget:g}")
            write({"answered": int(answered), "refused": int(refused)})

    def remaining(self) -> int:
        """How many more answered queries fit the budget."""
        with self._locked() as (answered, refused, _):
            return last_from_zero(
                lambda more: self._epsilon(answered + more, refused) <= self.budget
            )

    def _epsilon(self, answered: int, refused: int) -> float:
        return self._cost.epsilon(answered, refused, self.delta)

    @contextmanager
    def _locked(self) -> Iterator[tuple[int, int, Any]]:
        """Totals from the whole file, and how to append to it, while nobody else may."""
        with self._threads, self.path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            lines = file.read().split(b"\n")

            def write(record: dict[str, Any]) -> None:
                torn = b"\n" if lines[-1] else b""
                file.write(torn + json.dumps(record).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

            if lines == [b""]:
                write({"ledger": _FORMAT, "mechanism": self._named})
                self._keep_name()
                lines = [b"{}", b""]
            else:
                self._check_header(lines[0])
            yield *self._totals(lines[1:]), write

    def _keep_name(self) -> None:
        """A new file outlasts a crash only once its folder is on disk too."""
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _check_header(self, line: bytes) -> None:
        try:
            header = json.loads(line)
            known = header["ledger"] == _FORMAT
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"{self.path}: not a ledger") from None
        if not known or header.get("mechanism") != self._named:
            raise ValueError(
                f"{self.path}: a ledger of {header.get('mechanism')}, not of {self._named}"
            )

    @staticmethod
    def _totals(lines: list[bytes]) -> tuple[int, int]:
        """Answered and refused queries; a line that cannot be read counts as an answered one."""
        answered = refused = 0
        for line in lines:
            if not line:
                continue
            try:
                record = json.loads(line)
                counts = int(record["answered"]), int(record["refused"])
            except (ValueError, TypeError, KeyError):
                counts = 1, 0
            answered, refused = answered + max(counts[0], 0), refused + max(counts[1], 0)
        return answered, refused


def _named(mechanism: KnownMechanism) -> str:
    if isinstance(mechanism, InteractiveGNMax):
        return str(replace(mechanism, prediction=(1.0,)))  # of any
    return str(mechanism)
