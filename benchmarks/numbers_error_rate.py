"""How often correct mechanisms fail the gate for numbers, as numbers-error-rate.md says.

`python -m benchmarks.numbers_error_rate [--runs N] [--full N]` from the repository's root: RUNS of
40 releases at each of two values of `false_alarm`, then FULL runs of all checks at each. Ville's
inequality bounds every rate; shown is what was counted, with 99 % Clopper-Pearson bounds. Stopped,
it goes on where it was when it is run again.
"""

import argparse
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy.stats import beta

from dpassay.reference.numbers import sample
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

from .long_runs import ROOT, Part, add_workers, carried_out, workers

HISTOGRAM = 'name = "noisy-histogram"\nadjacency = "add-remove"\ncells = 10\nnoise = "{}"'
COUNT = 'name = "noisy-count"\nadjacency = "replace-one"\nnoise = "{}"'
KEYS = 'name = "thresholded-histogram"\nadjacency = "add-remove"\ncells = 40\nthreshold = 8\n'
SUM = 'name = "noisy-sum"\nadjacency = "add-remove"\ndimensions = 3\n'
BOX, BALL = "lower = -1.0\nupper = 1.0\n", "clip_norm = 1.0\n"
MECHANISMS = (
    HISTOGRAM.format("laplace:2"),
    HISTOGRAM.format("gaussian:3"),
    HISTOGRAM.format("discrete-laplace:2"),
    HISTOGRAM.format("discrete-gaussian:3"),
    HISTOGRAM.format("discrete-laplace:0.5"),  # whole releases come again, by the claim
    HISTOGRAM.format("discrete-laplace:2").replace("cells = 10", "cells = 3"),
    HISTOGRAM.format("discrete-laplace:2").replace("cells = 10", "cells = 1000"),
    HISTOGRAM.format("laplace:2;round"),
    HISTOGRAM.format("gaussian:3;grid=0.25"),
    HISTOGRAM.format("laplace:2;grid=2^-40"),
    HISTOGRAM.format("gaussian:3;min=0"),
    HISTOGRAM.format("discrete-laplace:2;min=0;max=50"),
    COUNT.format("laplace:5"),
    COUNT.format("discrete-gaussian:4"),
    SUM + BOX + 'noise = "laplace:2"',
    SUM + BALL + 'noise = "gaussian:2"',
    'name = "noisy-mean"\nadjacency = "replace-one"\ndimensions = 2\ndivide_by = 24\n'
    'lower = 0.0\nupper = 1.0\nnoise = "laplace:0.5"',
    'name = "noisy-gradient"\nadjacency = "add-remove"\nshapes = [[4, 3], [3]]\nclip_norm = 1.0\n'
    'divide_by = 32\nnoise = "gaussian:1.1"',
    KEYS + 'noise = "discrete-laplace:1"',
    KEYS + 'noise = "gaussian:2"',
)

TOGETHER = 10
"""Runs after which results are kept."""

SHORT = 40
ERRORS = (1e-6, 0.1)


def claim_of(text: str, releases: int | None, error: float) -> NumbersClaim:
    """The claim of a mechanism; releases: most of a run."""
    gate = f"\n[gate]\nfalse_alarm = {error}\n"
    gate += f"max_queries = {releases}\n" if releases else ""
    claim: NumbersClaim = parse_claim(tomllib.loads(f"[mechanism]\n{text}{gate}"))
    return claim


def verdicts(releases: int, error: float, first: int, last: int) -> list[tuple[int, str, str]]:
    """Mechanism, verdict and failed checks of the runs from first to before last, in turn."""
    found = []
    for run in range(first, last):
        place = run % len(MECHANISMS)
        claim = claim_of(MECHANISMS[place], releases or None, error)
        target = InProcessTarget(correct(claim, run), release=claim.release)
        report = verify(target, claim, seed=run)
        failed = [check.id for check in report.checks if check.verdict.value == "fail"]
        found.append((place, report.verdict.value, ", ".join(failed)))
    return found


def correct(claim: NumbersClaim, run: int) -> Any:
    """A function (values, size) -> releases that does what is claimed."""
    rng, mechanism = np.random.default_rng([7, run]), claim.mechanism

    def keys(values: Any, size: int) -> Any:
        released = mechanism.keys.sample(values, size, rng)
        return [[{"key": int(key)} for key in row] for row in released]

    def numbers(values: Any, size: int) -> Any:
        return sample(mechanism.aggregation, values, size, rng)

    return keys if mechanism.takes == "keys" else numbers


def settings(short: int, full: int) -> Iterator[tuple[str, int, float, int]]:
    """Name, releases at most (0: as many as the checks need), error, and runs."""
    for error in ERRORS:
        yield f"{SHORT} releases, false_alarm {error:g}", SHORT, error, short
    for error in ERRORS:
        yield f"all checks, false_alarm {error:g}", 0, error, full


def main() -> None:
    parser = argparse.ArgumentParser(description="How often correct mechanisms fail.")
    parser.add_argument("--runs", type=int, default=2000, help=f"of {SHORT} releases, at each")
    parser.add_argument("--full", type=int, default=100, help="runs of all checks, at each")
    add_workers(parser)
    asked = parser.parse_args()
    lines = [*head(asked.runs, asked.full)]
    for name, releases, error, runs in settings(asked.runs, asked.full):
        starts = range(0, runs, TOGETHER)
        todo: list[Part] = [(releases, error, n, min(runs, n + TOGETHER)) for n in starts]
        if not todo:
            continue
        with workers(asked) as executor:
            told = carried_out(verdicts, todo, "numbers_error_rate", executor)
        lines.append(row(name, [each for part in told for each in part]))
        print(lines[-1], flush=True)
    lines += ["", "The mechanisms, in turn:", "", *(f"- {said(text)}" for text in MECHANISMS)]
    (ROOT / "docs" / "results" / "numbers-error-rate.md").write_text("\n".join(lines) + "\n")


def head(runs: int, full: int) -> Iterator[str]:
    command = f"python -m benchmarks.numbers_error_rate --runs {runs} --full {full}"
    yield "# How often correct mechanisms of numbers fail\n"
    yield (
        f"Generated by `{command}`; do not edit. dpassay {version('dpassay')}, numpy "
        f"{np.__version__}.\n"
    )
    yield (
        f"{len(MECHANISMS)} correct mechanisms, of every noise law, rounding and range, were "
        "judged by `dpassay verify`, each run with a seed and inputs of its own. A correct one "
        "fails with probability `false_alarm` at most, at any number of releases, by Ville's "
        "inequality. So few runs cannot show a rate of 10^-6. At 0.1 they could show one above "
        "0.1, and they show how much of that is used: the shares of checks that do not apply are "
        "not, and evidence for one fault is paid for by that for others.\n"
    )
    yield (
        f"Runs of {SHORT} releases look at evidence some thirty times, and end before checks ask "
        "for releases of their own (`clipping` and those below it in [the checks of "
        "numbers](../checks/numbers/index.md)); "
        "runs "
        "of all checks go on until all have decided. In brackets, 99 % Clopper-Pearson bounds.\n"
    )
    yield "| runs | failed | rate | failed checks | passed |\n|---|---|---|---|---|"


def row(name: str, found: list[Any]) -> str:
    failed = [checks for _, verdict, checks in found if verdict == "fail"]
    passed = sum(verdict == "pass" for _, verdict, _ in found)
    k, n = len(failed), len(found)
    low = float(beta.ppf(0.005, k, n - k + 1)) if k else 0.0
    high = float(beta.ppf(0.995 if k else 0.99, k + 1, n - k)) if k < n else 1.0
    by = Counter(check for checks in failed for check in checks.split(", "))
    which = ", ".join(f"{check} {times}" for check, times in by.most_common()) or "-"
    bounds = f"{low:.4f} to {high:.4f}" if k else f"at most {high:.4f}"
    return f"| {n:,} of {name} | {k} | {k / n:.4f} ({bounds}) | {which} | {passed} |"


def said(text: str) -> str:
    """The claim in a few words."""
    return claim_of(text, None, 1e-6).said


if __name__ == "__main__":
    main()
