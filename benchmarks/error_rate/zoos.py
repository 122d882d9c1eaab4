"""The correct deployments of the zoos in tests/, with right ones of claims without a law.

Those of tests/replay_zoo are left out: a replay has no error rate, and `benchmarks.replay` runs it.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from dpassay.verifiers.claims.tables import Gate
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget, Target

from ..long_runs import ROOT, Part
from ..peers.lawless import LAWLESS, Lawless

sys.path.insert(0, str(ROOT / "tests"))  # where the zoos are

import batch_zoo
import numeric_zoo
import table_zoo
import tally_zoo

import zoo

COARSE = {"tolerance": 0.2, "smallest_effect": 0.1, "max_queries": 1_000}
SETTINGS: dict[str, dict[str, Any]] = {
    "1,000 queries, false_alarm 1e-06": COARSE | {"false_alarm": 1e-6},
    "1,000 queries, false_alarm 0.05": COARSE | {"false_alarm": 0.05},
    "the default budget, false_alarm 1e-06": {name: getattr(Gate(), name) for name in COARSE},
}

TOGETHER = 5
"""Short runs after which results are kept."""

APART = 1_000_000
"""Between the seeds of a setting and those of the next."""

WITHOUT_LAW = {
    "mechanism": {"name": "any"},
    "privacy": {"epsilon": 1.0, "delta": 1e-6},
    "pairs": [{"here": 0, "there": 1}],
}


class Right(NamedTuple):
    """A correct deployment: its claim, and what opens it, its noise from a seed."""

    claim: Any
    opened: Callable[[int], AbstractContextManager[Target]]


@cache
def rights() -> dict[str, Right]:
    """All by zoo and name, in an order that mixes the zoos."""
    found = {
        f"labels {one.id}": Right(parse_claim(one.claim), partial(zoo.opened, one))
        for one in zoo.CORRECT
    }
    zoos = {
        "tables": table_zoo.CORRECT,
        "tallies": tally_zoo.CORRECT,
        "numbers": numeric_zoo.CORRECT,
        "batches": batch_zoo.CORRECT,
    }
    for kind, entries in zoos.items():
        found |= {f"{kind} {one.name}": _right(one.claim, one.made) for one in entries}
    for kept in LAWLESS:
        if kept.right:
            found[f"any {kept.name}"] = _right(parse_claim(WITHOUT_LAW), partial(_replies, kept))
    return {name: found[name] for name in np.random.default_rng(0).permutation(list(found))}


def _right(claim: Any, make: Callable[[np.random.Generator], Any]) -> Right:
    """In this process; make: what answers, from the generator of its noise."""

    def opened(seed: int) -> AbstractContextManager[Target]:
        rng = np.random.default_rng([8, seed])
        return nullcontext(InProcessTarget(make(rng), release=claim.release))

    return Right(claim, opened)


def _replies(kept: Lawless, rng: np.random.Generator) -> Callable[[int, int], Any]:
    return lambda world, size: kept.draw(world, size, rng).tolist()


def verdicts(setting: str, first: int, last: int) -> list[tuple[str, str]]:
    """Verdict and failed checks of the runs from first to before last, of the deployments in turn.

    Each fails by warnings of defects too, and has a seed that no other run has.
    """
    found, names, apart = [], list(rights()), APART * list(SETTINGS).index(setting)
    for run in range(first, last):
        name = names[run % len(names)]
        claim, opened = rights()[name]
        gate = claim.gate.model_copy(update=SETTINGS[setting] | {"strict": True})
        seed = apart + run
        with opened(seed) as target:
            report = verify(target, claim.with_gate(gate), seed=seed, after_failure="stop")
        who = name.replace(",", "")
        failed = [f"{one.id} of {who}" for one in report.checks if one.verdict.value == "fail"]
        found.append((report.verdict.value, ", ".join(failed)))
    return found


def settings(short: int, full: int) -> Iterator[tuple[str, list[Part]]]:
    """Each setting by name, with its runs."""
    each = zip(SETTINGS, (short, short, full), (TOGETHER, TOGETHER, 1), strict=True)
    for name, runs, step in each:
        yield name, [(name, n, min(runs, n + step)) for n in range(0, runs, step)]
