"""Releases of six means until their epsilon is refuted; writes docs/results/numbers-auditing.md.

`python -m benchmarks.numbers_auditing [--runs N]` from the repository's root: the wagers of
`privacy-audit`, which know nothing of a mechanism, and the check itself, on the mechanisms of
benchmarks/peers/mean_mechanisms.py. What another library needs is measured apart, by
benchmarks/peers/dp_auditorium_means.py, and is kept in peers/means.md. Stopped, it goes on where it
was when it is run again.
"""

import argparse
import math
import statistics
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np

from dpassay.verifiers.kinds.numbers.checks.privacy_audit import PrivacyAudit
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.numbers.evidence.two_events import LearnedEvents, Level
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.outcome import RunOutcome
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.state import RunState
from dpassay.verifiers.targets import InProcessTarget

from .long_runs import ROOT, Part, add_workers, carried_out, workers
from .pages import head, write_page
from .peers.mean_mechanisms import MECHANISMS, PAIR, UNFLOORED, Mechanism, delta_of

EPSILONS, ERRORS = (0.01, 0.1), (0.05, 1e-6)
MOST = 50_000
"""Releases of both inputs together."""

FIRST, SHARE = 10, 0.2  # releases of each input, then as a share of those before

PUBLISHED = {
    ("NonDPGaussian1", 0.01): "264",
    ("NonDPGaussian1", 0.1): "562",
    ("NonDPGaussian2", 0.01): "1,139 (85 %)",
    ("NonDPGaussian2", 0.1): "(5 %)",
    ("NonDPLaplace1", 0.01): "331",
    ("NonDPLaplace1", 0.1): "920",
    ("NonDPLaplace2", 0.01): "192",
    ("NonDPLaplace2", 0.1): "770",
}
"""Samples until rejected, and the share rejected where it is not all, as González et al. print."""

FORMS: dict[str, dict[str, Mechanism]] = {"floored": MECHANISMS, "negative": UNFLOORED}


def until_refuted(seed: int, form: str, name: str, epsilon: float, error: float) -> int | None:
    """Releases of both inputs until the wagers refute epsilon; None where `MOST` do not."""
    draw, rng = FORMS[form][name], np.random.default_rng([seed, 11])
    evidence, pairs, size = LearnedEvents(Level(epsilon, delta_of(name)), np.ones(1)), 0, FIRST
    while 2 * (pairs + size) <= MOST:
        here, there = (draw(records, epsilon, size, rng)[:, None] for records in PAIR)
        evidence.observe(here, there)
        pairs += size
        if evidence.log_e_value >= -math.log(error):
            return 2 * pairs
        size = max(FIRST, int(SHARE * pairs))
    return None


def by_the_check(seed: int, form: str, name: str, epsilon: float) -> tuple[str, int, str, int]:
    """Verdict of `privacy-audit` and its releases; that of the whole gate, and when it failed."""
    claim = claim_of(name, epsilon)
    target = InProcessTarget(deployed(FORMS[form][name], epsilon, seed), release=claim.release)
    standing = RunState(target, claim, RunOutcome(None), None)
    outcome = PrivacyAudit(claim, claim.inputs(seed), seed).conclude(standing)
    assert outcome is not None
    target = InProcessTarget(deployed(FORMS[form][name], epsilon, seed), release=claim.release)
    report = verify(target, claim, seed=seed)
    verdict = outcome.verdict.value
    return verdict, outcome.queries, report.verdict.value, report.found_after or report.queries


def claim_of(name: str, epsilon: float) -> NumbersClaim:
    """A mean of 24 public records from 0 to 1, with the noise that its documentation would name."""
    scale = (math.sqrt(2.0 * math.log(1.25e5)) if "Gaussian" in name else 1.0) / epsilon
    family = "gaussian" if "Gaussian" in name else "laplace"
    claim: NumbersClaim = parse_claim(
        tomllib.loads(
            f'[mechanism]\nname = "noisy-mean"\nnoise = "{family}:{scale / 24!r}"\n'
            'adjacency = "add-remove"\ndimensions = 1\nlower = 0.0\nupper = 1.0\ndivide_by = 24\n'
            f"[privacy]\nepsilon = {epsilon}\ndelta = {delta_of(name) or 1e-9}\nqueries = 1\n"
        )
    )
    return claim


def deployed(draw: Mechanism, epsilon: float, seed: int) -> Any:
    """A function (records, size) -> releases (size, 1)."""
    rng = np.random.default_rng([seed, 12])

    def aggregate(values: Any, size: int) -> Any:
        records = np.array(values, dtype=np.float64).reshape(-1)
        if not np.isfinite(records).all():
            raise ValueError("expected finite numbers")
        return draw(np.clip(records, 0.0, 1.0), epsilon, size, rng)[:, None]

    return aggregate


def main() -> None:
    parser = argparse.ArgumentParser(description="Releases until an epsilon is refuted.")
    parser.add_argument("--runs", type=int, default=20)
    add_workers(parser)
    asked = parser.parse_args()
    cases = [(f, name, e) for f, some in FORMS.items() for name in some for e in EPSILONS]
    seeds = range(asked.runs)
    wagers: list[Part] = [(s, *case, error) for s in seeds for case in cases for error in ERRORS]
    checks: list[Part] = [(s, *case) for s in seeds for case in cases]
    with workers(asked) as executor:
        first = carried_out(until_refuted, wagers, "numbers_auditing", executor)
        second = carried_out(by_the_check, checks, "numbers_auditing_checks", executor)
    found: dict[Any, list[Any]] = {}
    for part, results in zip([*wagers, *checks], [*first, *second], strict=True):
        found.setdefault(part[1:], []).append(results)
    lines = [*opening(asked.runs), *table(found, "floored"), *table(found, "negative")]
    lines += [*of_checks(found), (ROOT / "benchmarks" / "peers" / "means.md").read_text().rstrip()]
    write_page("numbers-auditing.md", lines)


def opening(runs: int) -> Iterator[str]:
    yield "# Releases until a false epsilon is refuted\n"
    yield (
        f"Generated by `python -m benchmarks.numbers_auditing --runs {runs}`; do not edit. dpassay "
        f"{version('dpassay')}, numpy {np.__version__}. The check is described in "
        "[the checks of numbers](../checks/numbers/index.md); the last section is of another "
        "library, measured apart.\n"
    )
    yield (
        "Six means of numbers from 0 to 1, on which auditors of differential privacy are compared. "
        "Each claims epsilon (with delta 10^-5 where the noise is Gaussian) of neighbours that "
        "differ in one record, but four do not keep it. In those of 1 the true number of records n "
        "divides the sum, and divides the scale of the noise: with one record more, the noise is "
        "half of what it was. In those of 2 the true n divides the sum, while a noisy one scales "
        "the noise. In the private ones a noisy n does both. The neighbours are the records [0] "
        "and [0, 1]. An auditor draws releases of both, knows nothing of the mechanism, and "
        "refutes the claim with an error of 0.05, as is usual in papers, or 10^-6, as "
        "`dpassay verify` has it. Releases of both inputs are counted together.\n"
    )


TITLES = {"floored": "A noisy count is positive", "negative": "A noisy count may be negative"}
TOLD = {
    "floored": (
        f"Median of the runs that refute within {MOST:,} releases; the share of these where it is "
        "not all. On the right what González et al. 2025 (arXiv 2509.07055) print for their "
        "sequential test at 0.05, read second-hand: their code was not at hand, and whether their "
        "form of the mechanisms is this one in every detail is not known. Of their 1 the figures "
        "are near ours, of their 2 they are lower than ours. Which of two readings their 1 and 2 "
        "are was chosen here partly because it fits: that the 1 agree is weak evidence."
    ),
    "negative": (
        "As the code of DP-Auditorium has them (`mechanisms/mean.py`): of one or two records every "
        "second noisy count is negative, and the scale of the noise is then 10^-12 instead. So the "
        "library's example of a private mean is not private for inputs this small: a release shows "
        "the sum itself."
    ),
}


def table(found: dict[Any, list[Any]], form: str) -> Iterator[str]:
    yield f"## {TITLES[form]}\n"
    yield TOLD[form] + "\n"
    published = form == "floored"
    columns = ["mechanism", "claimed epsilon", *(f"error {error:g}" for error in ERRORS)]
    columns += ["González et al."] if published else []
    yield head(" | ".join(columns))
    for name in FORMS[form]:
        for epsilon in EPSILONS:
            cells = [name, f"{epsilon:g}"]
            cells += [counted(found[form, name, epsilon, error]) for error in ERRORS]
            cells += [PUBLISHED.get((name, epsilon), "not rejected")] if published else []
            yield f"| {' | '.join(cells)} |"
    yield ""


def counted(runs: list[int | None]) -> str:
    refuted = [n for n in runs if n is not None]
    if not refuted:
        return "never"
    share = f" ({len(refuted) / len(runs):.0%})" if len(refuted) < len(runs) else ""
    return f"{statistics.median(refuted):,.0f}{share}"


def of_checks(found: dict[Any, list[Any]]) -> Iterator[str]:
    yield "## By the check, and with a claim\n"
    yield (
        "`privacy-audit` as a run of `dpassay verify` has it: 10,000 releases of both neighbours "
        "at most, with a thirty-second of an error of 10^-6. Beside it the whole gate, with a "
        "claim: a claim can say `noisy-mean` of a stated number of records, and none can say that "
        "a mean is divided by a noisy count. So all six are held to what a reader of their "
        "documentation would take them for, a mean of 24 records with noise of scale "
        "1 / (24 epsilon) (Gaussian: times sqrt(2 ln(1.25 / delta))). None of them is that, the "
        "private ones neither: this shows how soon the gate sees that a deployment is not what it "
        "says, not whether it is private.\n"
    )
    yield head("mechanism | claimed epsilon | `privacy-audit` fails | after | gate fails | after")
    for name in MECHANISMS:
        for epsilon in EPSILONS:
            outcomes = found["floored", name, epsilon]
            alone = [n for verdict, n, _, _ in outcomes if verdict == "fail"]
            whole = [n for _, _, verdict, n in outcomes if verdict == "fail"]
            yield (
                f"| {name} | {epsilon:g} | {len(alone)} of {len(outcomes)} | {counted_or(alone)} | "
                f"{len(whole)} of {len(outcomes)} | {counted_or(whole)} |"
            )
    yield ""


def counted_or(refuted: list[int]) -> str:
    return f"{statistics.median(refuted):,.0f}" if refuted else "-"


if __name__ == "__main__":
    main()
