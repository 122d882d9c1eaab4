"""`python -m benchmarks.samplers`: samplers, judged; it writes docs/results/samplers.md.

The zoo of `tests/batch_zoo`, how often right samplers fail, samplers of real libraries, and what a
training costs by how its batches are drawn. `--packages` names a folder in which these libraries
are, as `pip install --target FOLDER torch opacus jax-privacy` makes one.
"""

import argparse
import statistics
import time
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import Any

import numpy as np
from batch_zoo import BROKEN, CORRECT, POISSON, RECORDS, SIZE, entry, law
from zoo_entry import Entry

from dpassay.reference.accounting.batches import batches_epsilon, epochs_epsilon
from dpassay.reference.batches import Batches
from dpassay.verifiers.claims.tables import Gate
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.run.run import verify

from ..long_runs import add_workers, carried_out, workers
from ..pages import RESULTS, head
from .real import REAL, add_packages

_BROKEN_RUNS, _RIGHT_RUNS, _REAL_RUNS = 20, 100, 5
_LOOSE, _LOOSELY, _TOGETHER, _SHORT = 0.05, 400, 25, 200
_TRAININGS = ((1.1, 10), (1.1, 60), (0.8, 10), (2.0, 60))
"""Noise multipliers, and epochs, of the table of costs."""
_COSTS = (
    "noise | epochs | Poisson, as claimed | at 1.1 times the rate | fixed batches "
    "| shuffled epochs, without amplification"
)
_OF, _BATCH, _DELTA = 60_000, 256, 1e-5


def judged(name: str, seed: int) -> dict[str, Any]:
    """What a run says of an entry of the zoo."""
    return _run(next(one for one in (*BROKEN, *CORRECT) if one.name == name), seed)


def judged_real(place: int, seed: int, packages: str) -> dict[str, Any]:
    """What a run says of a sampler of a library, by its place in `REAL`."""
    add_packages(packages)
    real = REAL[place]
    return _run(entry(real.name, real.sampling, real.made), seed)


def _run(sampler: Entry, seed: int) -> dict[str, Any]:
    began, claim = time.monotonic(), sampler.claim
    report = verify(sampler.target(seed, 7), claim, seed=seed)
    wrong = [c for c in report.checks if c.verdict in (Verdict.FAIL, Verdict.ERROR)]
    return {
        "failed": [check.id for check in wrong],
        "said": next((check.diagnosis for check in wrong), None),
        "found": report.found_after or report.queries,
        "passed": report.verdict is Verdict.PASS,
        "seconds": time.monotonic() - began,
    }


def short_runs(first: int) -> int:
    """How many of the short runs from this seed on accuse Poisson sampling, 1 in 20 allowed."""
    poisson, accused = entry("Poisson", POISSON, law(POISSON)), 0
    claim = poisson.claim.with_gate(Gate(false_alarm=_LOOSE))
    for seed in range(first, first + _TOGETHER):
        report = verify(poisson.target(seed, 7), claim, seed=seed, queries=_SHORT)
        accused += report.verdict is Verdict.FAIL
    return accused


def cost(multiplier: float, epochs: int) -> list[float]:
    """Epsilons: of Poisson sampling, at 1.1 times the rate, of fixed batches, of whole epochs."""
    steps = epochs * -(-_OF // _BATCH)
    poisson = Batches.parse(f"poisson:{_BATCH / _OF}", _OF)
    more = Batches.parse(f"poisson:{1.1 * _BATCH / _OF}", _OF)
    fixed, shuffled = (Batches.parse(f"{how}:{_BATCH}", _OF) for how in ("fixed", "shuffle"))
    terms = multiplier, steps, _DELTA
    return [
        *(batches_epsilon(batches, *terms).high for batches in (poisson, more, fixed)),
        epochs_epsilon(shuffled, *terms),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.samplers", description=__doc__)
    parser.add_argument("--runs", type=int, default=_BROKEN_RUNS, help="runs of each wrong one")
    parser.add_argument("--right", type=int, default=_RIGHT_RUNS, help="runs of each right one")
    parser.add_argument("--packages", default="", help="folder of opacus, torch and jax-privacy")
    add_workers(parser)
    asked = parser.parse_args()
    add_packages(asked.packages)
    times = {one.name: asked.runs if one.caught else asked.right for one in (*BROKEN, *CORRECT)}
    parts = [(name, seed) for name, runs in times.items() for seed in range(1, runs + 1)]
    real_parts: list[tuple[str | int, ...]] = [
        (place, seed, asked.packages)
        for place in range(len(REAL))
        for seed in range(1, _REAL_RUNS + 1)
    ]
    with workers(asked) as executor:
        costs = carried_out(cost, _TRAININGS, "samplers-cost", executor)
        reals = carried_out(judged_real, real_parts, "samplers-real", executor)
        runs = carried_out(judged, parts, "samplers-zoo", executor)
        firsts = [(first,) for first in range(0, _LOOSELY, _TOGETHER)]
        accused = sum(carried_out(short_runs, firsts, "samplers-short", executor))
    by_name: dict[str, list[Any]] = {}
    for (name, _), run in zip(parts, runs, strict=True):
        by_name.setdefault(str(name), []).append(run)
    by_place: list[list[Any]] = [[] for _ in REAL]
    for part, run in zip(real_parts, reals, strict=True):
        by_place[int(part[0])].append(run)
    (RESULTS / "samplers.md").write_text(_page(by_name, by_place, accused, costs))


def _page(
    found: dict[str, list[Any]], reals: list[list[Any]], accused: int, costs: list[list[float]]
) -> str:
    rows, lost, late = [], 0, 0
    for one in BROKEN:
        of = found[one.name]
        named = sum(bool({*run["failed"]} & {*one.caught}) for run in of)
        after = [run["found"] for run in of]
        lost, late = lost + len(of) - named, late + sum(n > one.within for n in after)
        middle = f"{statistics.median(after):.0f} ({max(after)})"
        rows.append(
            f"| {one.name} | {one.claim.mechanism.sampling} | {', '.join(one.caught)} "
            f"| {named} of {len(of)} | {middle} | {one.within:,} |"
        )
    right = [(one, found[one.name]) for one in CORRECT]
    passed = [
        f"| {one.name} | {one.claim.mechanism.sampling} of {one.claim.mechanism.records:,} | "
        f"{sum(run['passed'] for run in of)} of {len(of)} |"
        for one, of in right
    ]
    every = [run for _, of in right for run in of]
    seconds = statistics.median(run["seconds"] for run in every)
    return f"""# Samplers of batches

Generated by `python -m benchmarks.samplers`; do not edit. dpassay {version("dpassay")}, numpy
{np.__version__}{_versions()}.

{len(BROKEN)} wrong and {len(CORRECT)} right samplers (`tests/batch_zoo`), most of {RECORDS:,}
records in batches of {SIZE}. `dpassay verify` judged each at a false alarm of 10^-6; a pass takes
2,000 batches, {seconds:.1f} s in the median.

- Runs in which a wrong one was not found by a check named for it:
  **{lost} of {sum(len(found[one.name]) for one in BROKEN)}**; later than the limit: {late}.
- Right ones that did not pass:
  **{sum(not run["passed"] for run in every)} of {len(every):,}**.
  With 1 in 20 allowed, short runs of Poisson sampling accused it {accused} times in {_LOOSELY}.

## Wrong

Batches until found: in the median, at most, and the limit that all runs are held to, which was set
after a first look at fewer runs.

{head("sampler | claim | checks of which one must fail | found | batches (most) | limit")}
{chr(10).join(rows)}

## Right

{head("sampler | claim | passed")}
{chr(10).join(passed)}

## Of real libraries

{_REAL_RUNS} runs each. A sampler under another law than its own is no fault of its library: the
claim is that of its users, and the accounting that they took for it.

{head("library | sampler | claim | found | what is said | known")}
{chr(10).join(_real_rows(reals))}

## What it costs

{_OF:,} records, batches of {_BATCH}, delta {_DELTA:g}; upper bounds, by privacy loss distributions
of a record more or less, of fixed batches by Renyi costs for a record that is another.

{head(_COSTS)}
{chr(10).join(_cost_rows(costs))}

What shuffling takes off is not known exactly: the true epsilon of shuffled epochs lies somewhere
below the last column, and nothing shows that it lies as low as the first.
"""


def _versions() -> str:
    found = []
    for name in ("torch", "opacus", "jax-privacy"):
        try:
            found.append(f", {name} {distribution(name).version}")
        except PackageNotFoundError:
            continue
    return "".join(found)


def _real_rows(reals: list[list[Any]]) -> list[str]:
    rows = []
    for real, of in zip(REAL, reals, strict=True):
        failed = sum(not run["passed"] for run in of)
        checks = sorted({check for run in of for check in run["failed"]})
        after = statistics.median(run["found"] for run in of)
        told = f"wrong in {failed} of {len(of)}, after {after:.0f}: {', '.join(checks)}"
        if not failed:
            told = f"passed {len(of)} of {len(of)}"
        said = next((run["said"] for run in of if run["said"]), "")
        rows.append(
            f"| {real.package} | `{real.name}` | {real.sampling} | {told} | {said} | {real.says} |"
        )
    return rows


def _cost_rows(costs: list[list[float]]) -> list[str]:
    return [
        f"| {multiplier:g} | {epochs} | {' | '.join(f'{epsilon:.3g}' for epsilon in of)} |"
        for (multiplier, epochs), of in zip(_TRAININGS, costs, strict=True)
    ]


if __name__ == "__main__":
    main()
