"""`python -m benchmarks.tally`: tallies behind masks, judged; it writes docs/results/tally.md.

The zoo of `tests/tally_zoo`, and how often correct tallies fail.
"""

import argparse
import json
import statistics
import tomllib
from importlib.metadata import version
from typing import Any

import numpy as np
from tally_zoo import BROKEN, CORRECT, ENTRIES
from tally_zoo.shelf import FIVE, GATE

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

from ..long_runs import add_workers, carried_out, workers
from ..pages import RESULTS, head

_RUNS, _WHOLE, _SHORT, _TOGETHER = 20, 6, 1_000, 25
_SHORTEST = 350
"""Rounds of a short run: three checks of rounds, and some of the law of the noise."""

_LOOSE, _LOOSELY = 0.05, 400
"""False alarms that short runs allow themselves, beside 1e-6."""

_COLUMNS = (
    "fault | checks of which one must fail | found | rounds until found (most) "
    "| correct one that looks alike"
)


def judged(name: str, seed: int) -> dict[str, Any]:
    """What a run says of an entry of the zoo."""
    entry = next(entry for entry in ENTRIES if entry.name == name)
    claim, target = entry.claim, entry.target(seed, 77)
    report = verify(target, claim, seed=seed)
    wrong = [c for c in report.checks if c.verdict in (Verdict.FAIL, Verdict.ERROR)]
    return {
        "failed": [check.id for check in wrong],
        "found": report.found_after or report.queries,
        "passed": report.verdict is Verdict.PASS,
    }


def short_runs(first: int, false_alarm: float) -> int:
    """How many of the short runs from this seed on accuse a correct tally, of uniform masks."""
    gate = GATE + f"max_queries = {_SHORTEST}\nfalse_alarm = {false_alarm}\n"
    claim: Any = parse_claim(tomllib.loads(f"[mechanism]\n{FIVE}{gate}"))
    accused = 0
    for seed in range(first, first + _TOGETHER):
        target = InProcessTarget(_uniform(claim, seed), release=claim.release)
        report = verify(target, claim, seed=seed)
        accused += any(check.verdict is Verdict.FAIL for check in report.checks)
    return accused


def _uniform(claim: Any, seed: int) -> Any:
    """A correct tally whose masks are numpy's, so that a thousand runs take minutes."""
    rng, of = np.random.default_rng([seed, 5]), claim.mechanism

    def rounds(values: Any, size: int) -> list[dict[str, Any]]:
        leaves = np.asarray(values[1])
        present = int(((leaves == 0) | (leaves == 3)).sum())
        found = []
        for _ in range(size):
            noise = of.left(present).family.sample(rng, (of.width,))
            masks = rng.integers(0, of.modulus, (of.parties, of.width))
            sent = [
                None if when in (1, 2) else row for when, row in zip(leaves, masks, strict=True)
            ]
            found.append({"tally": claim.release.exact(values) + noise.astype(int), "sent": sent})
        return found

    return rounds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tally", description=__doc__)
    parser.add_argument("--runs", type=int, default=_RUNS, help="runs of each entry of the zoo")
    parser.add_argument("--whole", type=int, default=_WHOLE, help="runs of each correct one")
    parser.add_argument("--only", default="", help="entries whose name has this; prints, no page")
    add_workers(parser)
    asked = parser.parse_args()
    chosen = [entry for entry in ENTRIES if asked.only in entry.name]
    with workers(asked) as executor:
        times = {entry.name: asked.runs if entry.caught else asked.whole for entry in chosen}
        parts = [(name, seed) for name, runs in times.items() for seed in range(1, runs + 1)]
        runs = carried_out(judged, parts, "tally-zoo", executor)
        if asked.only:
            for part, run in zip(parts, runs, strict=True):
                print(*part, json.dumps(run))
            return
        rates: list[tuple[int, float]] = [
            *((first, 1e-6) for first in range(0, _SHORT, _TOGETHER)),
            *((first, _LOOSE) for first in range(_SHORT, _SHORT + _LOOSELY, _TOGETHER)),
        ]
        accused = carried_out(short_runs, rates, "tally-short", executor)
    by_name: dict[str, list[Any]] = {}
    for (name, _), run in zip(parts, runs, strict=True):
        by_name.setdefault(name, []).append(run)
    by_rate = {
        r: sum(a for (_, q), a in zip(rates, accused, strict=True) if q == r) for _, r in rates
    }
    (RESULTS / "tally.md").write_text(_page(by_name, by_rate, asked.runs))


def _page(found: dict[str, list[Any]], accused: dict[float, int], runs: int) -> str:
    rows = []
    for entry in BROKEN:
        of = found[entry.name]
        named = sum(bool({*run["failed"]} & {*entry.caught}) for run in of)
        rounds = [run["found"] for run in of]
        middle = f"{statistics.median(rounds):.0f} ({max(rounds)})"
        checks = ", ".join(entry.caught)
        rows.append(
            f"| {entry.name.replace('-', ' ')} | {checks} | {named} of {len(of)} | {middle} "
            f"| {entry.like.replace('-', ' ')} |"
        )
    correct = [run for entry in CORRECT for run in found[entry.name]]
    wrong = sum(bool(run["failed"]) for run in correct)
    lost = sum(
        not ({*run["failed"]} & {*entry.caught}) for entry in BROKEN for run in found[entry.name]
    )
    return f"""# Tallies behind masks, and encrypted

Generated by `python -m benchmarks.tally`; do not edit. dpassay {version("dpassay")}, cryptography
{version("cryptography")}.

{len(BROKEN)} broken and {len(CORRECT)} correct deployments (`tests/tally_zoo`), most with the keys
and masks of `dpassay.reference.secure_aggregation`, some with sums encrypted by Paillier (phe).
`dpassay verify` judged each broken one {runs} times, with seeds of its own. A correct one fails
with probability 10^-6 at most.

- Runs in which a broken one was not found by a check named for it:
  **{lost} of {len(BROKEN) * runs}**.
- Correct ones accused: **{wrong} of {len(correct)}** whole runs, and
  **{accused[1e-6]} of {_SHORT:,}** runs of {_SHORTEST} rounds. With 1 in 20 allowed:
  {accused[_LOOSE]} of {_LOOSELY}.

## Broken

Rounds until found: in the median, and at most. The opening takes the first 14, `mask-uniformity`
up to 200, `wrap-around` those after them.

{head(_COLUMNS)}
{chr(10).join(rows)}

[What a vote costs](tally-costs.md) in the clear, behind masks and encrypted has a page of its own.
"""


if __name__ == "__main__":
    main()
