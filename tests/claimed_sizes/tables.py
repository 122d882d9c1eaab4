"""Wrong engines: partitions that come or do not, bounds that do not hold, and noise of counts."""

from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.kinds.tables.evidence.other_contributions import OTHER_CONTRIBUTIONS
from dpassay.verifiers.kinds.tables.evidence.other_engines import other_bounds

from .numbers import Releases, of_noise


def wrong(planned: Any, check: str, entry: Excluded, times: float, seed: int) -> Any:
    """See `wrong_by`; of engines that release a count alone."""
    claim = planned.claim
    table, cells = claim.mechanism.table, len(claim.keys)
    (one,) = table.aggregates

    def exact(given: Any) -> Any:
        kept = table.bounding.keep(claim.release.rows_of(given), np.random.default_rng(0))
        return one.totals(kept, cells)[: table.listed]

    made = of_noise(Releases(exact, one.noise.family), entry, times)
    if made is not None:
        return _listed(made, cells, table.listed)
    if check == "empty-partitions":
        return _partitions(claim, entry, times, seed)
    return _bounded(claim, entry)


def _listed(made: Any, cells: int, listed: int) -> Any:
    """Releases of the listed partitions alone, in which the rest is absent."""

    def make(rng: np.random.Generator) -> Any:
        answer = made(rng)

        def answered(given: Any, size: int) -> Any:
            found = np.full((size, cells), np.nan)
            found[:, :listed] = answer(given, size)
            return found

        return answered

    return make


def _partitions(claim: Any, entry: Excluded, times: float, seed: int) -> Any:
    """Some partition is absent, or one comes that is not listed."""
    table, cells = claim.mechanism.table, len(claim.keys)
    share = times * float(entry.size["share"])

    def make(rng: np.random.Generator) -> Any:
        def answer(given: Any, size: int) -> Any:
            rows = claim.release.rows_of(given)
            found = table.sample(rows, cells, size, rng).reshape(size, -1)
            off = rng.random(size) < share
            counts = np.bincount(rows.cells, minlength=cells)
            if entry.code == "unlisted-partition-released":
                present = table.listed + np.flatnonzero(counts[table.listed :])
                found[np.ix_(off, present)] = 1.0
            elif entry.size.get("empty"):
                found[:, np.flatnonzero(counts[: table.listed] == 0)] = np.nan
            else:
                found[off, seed % table.listed] = np.nan
            return found

        return answer

    return make


def _bounded(claim: Any, entry: Excluded) -> Any:
    """An engine with the known mistake of an entry."""
    table, cells = claim.mechanism.table, len(claim.keys)
    (one,) = table.aggregates
    size = dict(entry.size)
    bounds = [
        bounding
        for cause, bounding in other_bounds(table.bounding)
        if (cause.code, dict(cause.fields)) == (entry.code, size)
    ]
    made = [
        contributed
        for cause, contributed in OTHER_CONTRIBUTIONS
        if (cause.code, dict(cause.fields)) == (entry.code, size)
    ]
    if not bounds and not made:
        return None

    def make(rng: np.random.Generator) -> Any:
        def answer(given: Any, size: int) -> Any:
            rows = claim.release.rows_of(given)
            if bounds:
                engine = replace(table, bounding=bounds[0])
                return engine.sample(rows, cells, size, rng).reshape(size, -1)
            kept = made[0](table.bounding.keep(rows, rng), one)
            exact = np.bincount(kept.cells, kept.values, cells)[: table.listed]
            found = np.full((size, cells), np.nan)
            found[:, : table.listed] = one.noise.sample(exact, size, rng)
            return found

        return answer

    return make
