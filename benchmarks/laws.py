"""Laws of differential privacy: how soon wrong functions break them, and what libraries do.

`python -m benchmarks.laws` from the repository's root writes docs/results/laws.md. autodp is held
to them where it can be imported; it is no dependency. `--law composition --json` prints one law's
functions of ours and writes nothing.
"""

import argparse
import json
import math
import statistics
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version

from dpassay.reference.parallel.kept import shown
from dpassay.verifiers.strategies import LAWS, Law
from dpassay.verifiers.strategies.law import EXAMPLES, Function

from .long_runs import ROOT
from .pages import head, write_page

sys.path.insert(0, str(ROOT / "tests"))

from law_variants import RIGHT, WRONG

SEEDS = 20
Parts = list[tuple[float, float]]


def pld_composition(parts: Parts) -> tuple[float, float]:
    """dp-accounting's privacy loss distributions of (epsilon, delta) guarantees."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    delta = math.fsum(delta for _, delta in parts) + 1e-6
    total = None
    for one in dict.fromkeys(parts):
        each = pld.from_privacy_parameters(common.DifferentialPrivacyParameters(*one))
        several = each.self_compose(parts.count(one))
        total = several if total is None else total.compose(several)
    assert total is not None
    return float(total.get_epsilon_for_delta(min(delta, 1.0))), min(delta, 1.0)


def accountant(kind: str) -> Function:
    """dp-accounting's accountant of Gaussian noise."""

    def epsilon(multipliers: Sequence[float], delta: float) -> float:
        from dp_accounting import GaussianDpEvent
        from dp_accounting.pld import PLDAccountant
        from dp_accounting.rdp import RdpAccountant

        one = PLDAccountant() if kind == "pld" else RdpAccountant()
        for multiplier in multipliers:
            one.compose(GaussianDpEvent(multiplier))
        return float(one.get_epsilon(delta))

    return epsilon


def rdp_conversion(orders: Sequence[float], costs: Sequence[float], delta: float) -> float:
    """dp-accounting's conversion of Renyi costs."""
    from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon

    return float(compute_epsilon(orders, costs, delta)[0])


def opendp_gaussians(multipliers: Sequence[float], delta: float) -> float:
    """OpenDP's Gaussian measurements, composed, and its conversion of zCDP."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    each = [dp.m.make_gaussian(*space, scale=multiplier) for multiplier in multipliers]
    composed = dp.c.make_composition(each)
    curve = dp.c.make_zCDP_to_approxDP(composed).map(1.0)  # type: ignore[no-untyped-call]
    return float(curve.epsilon(delta))


def opendp_group(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    """OpenDP's Laplace measurement, whose map takes the distance of a group; delta is none."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    measurement = dp.m.make_laplace(*space, scale=1.0 / epsilon)
    told = measurement.map(float(size))  # type: ignore[no-untyped-call]
    return float(told), 1.0 if delta else 0.0


def autodp_gaussians(multipliers: Sequence[float], delta: float) -> float:
    """Autodp's exact Gaussian mechanisms, composed."""
    from autodp.mechanism_zoo import ExactGaussianMechanism
    from autodp.transformer_zoo import Composition

    each = [ExactGaussianMechanism(multiplier) for multiplier in multipliers]
    return float(Composition()(each, [1] * len(each)).get_approxDP(delta))


def autodp_pure(epsilon: float, rate: float) -> float:
    """Autodp's amplification of a pure guarantee by Poisson sampling, at delta 0."""
    from autodp.mechanism_zoo import PureDP_Mechanism
    from autodp.transformer_zoo import AmplificationBySampling

    sampled = AmplificationBySampling(PoissonSampling=True)
    return float(sampled(PureDP_Mechanism(epsilon), rate).get_approxDP(0.0))


def autodp_conversion(orders: Sequence[float], costs: Sequence[float], delta: float) -> float:
    """Autodp's conversion of a Renyi curve, here that of the next order above."""
    from autodp.converter import rdp_to_approxdp

    def curve(order: float) -> float:  # costs do not fall with the order
        return costs[bisect_left(orders, order)] if order <= orders[-1] else math.inf

    return float(rdp_to_approxdp(curve, alpha_max=orders[-1])(delta))


LIBRARIES: list[tuple[str, str, str, Function]] = [
    ("dp-accounting", "composition", "PLD of (epsilon, delta)", pld_composition),
    ("dp-accounting", "Gaussian noise", "PLDAccountant", accountant("pld")),
    ("dp-accounting", "Gaussian noise", "RdpAccountant", accountant("rdp")),
    ("dp-accounting", "conversion", "rdp.compute_epsilon", rdp_conversion),
    ("opendp", "Gaussian noise", "make_composition, make_zCDP_to_approxDP", opendp_gaussians),
    ("opendp", "group privacy", "map of make_laplace", opendp_group),
    ("autodp", "Gaussian noise", "ExactGaussianMechanism, Composition", autodp_gaussians),
    ("autodp", "subsampling", "AmplificationBySampling", autodp_pure),
    ("autodp", "conversion", "rdp_to_approxdp", autodp_conversion),
]


@dataclass(frozen=True)
class Variant:
    """A function of ours under a law, over `SEEDS` seeds.

    broken: in how many an example that breaks the law was found; median, largest: the number of
    the first that does, one more than `EXAMPLES` where there is none.
    """

    law: str
    function: str
    right: bool
    broken: int
    median: float
    largest: int

    def row(self) -> str:
        """A row of the table."""
        when = "-" if self.right else f"{self.median:g}, {self.largest}"
        said = "right" if self.right else "wrong"
        return f"| {self.law} | {self.function} | {said} | {self.broken} of {SEEDS} | {when} |"


def variants(law: Law) -> Iterator[Variant]:
    """Each function of ours under a law, right or wrong."""
    for right, functions in ((True, RIGHT), (False, WRONG)):
        for name, function in functions[law.name].items():
            each = [law.first_broken(function, seed) for seed in range(SEEDS)]
            seen = [EXAMPLES + 1 if one is None else one for one in each]
            within = sum(one <= EXAMPLES for one in seen)
            yield Variant(law.name, name, right, within, statistics.median(seen), max(seen))


def libraries() -> Iterator[str]:
    """A row for each function of a library."""
    by_name = {law.name: law for law in LAWS}
    for package, law, call, function in LIBRARIES:
        try:
            where = f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"| {package} | {call} | {law} | not installed | - |"
            continue
        yield f"| {where} | {call} | {law} | {' | '.join(held(by_name[law], function))} |"


def held(law: Law, function: Callable[..., object]) -> tuple[str, str]:
    """Whether a library's function keeps a law, and what breaks it."""
    try:
        law.check(function)
    except AssertionError as error:
        return "no", str(error).splitlines()[0].replace("|", "\\|")
    except Exception as error:
        return "raises", f"{type(error).__name__}: {error}".splitlines()[0].replace("|", "\\|")
    return "yes", "-"


def main() -> None:
    by_name = {law.name: law for law in LAWS}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.laws", description=__doc__)
    parser.add_argument("--law", choices=by_name, help="only this; takes --json")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    if (asked.law is None) == asked.json:
        parser.error("--law and --json belong together")
    if asked.json:
        found = [asdict(one) for one in variants(by_name[asked.law])]
        print(json.dumps({"law": asked.law, "seeds": SEEDS, "functions": found}))
        return
    count = sum(len(RIGHT[law.name]) + len(WRONG[law.name]) for law in LAWS)
    each = shown((one for law in LAWS for one in variants(law)), count, "laws")
    rows = [one.row() for one in each]
    of_libraries = list(shown(libraries(), len(LIBRARIES), "libraries"))
    write_page(
        "laws.md",
        [
            "# Laws of differential privacy, and functions that break them",
            "",
            "Generated by `python -m benchmarks.laws`; do not edit. Each law of",
            "`dpassay.verifiers.strategies` is shown functions that keep it, and ways to get it",
            f"wrong (`tests/law_variants.py`), over {SEEDS} seeds of Hypothesis with up to",
            f"{EXAMPLES} examples each. All of 20 seeds show a rate of at least 83 %, none of 20",
            "one of at most 17 % (Clopper and Pearson, 95 %).",
            "",
            head("law | function | is | found broken | example that breaks it: median, largest"),
            *rows,
            "",
            "## What libraries do",
            "",
            "Each function is held to its law with the examples of `Law.check`. A verdict is about",
            "one call of one version under one law: what fails may be meant for other inputs.",
            "",
            head("library | call | law | keeps it | what breaks it"),
            *of_libraries,
            "",
            "What is exact beside each law, and its source:",
            "",
            *(f"- {law.name}: `{law.signature}`; {law.source}" for law in LAWS),
        ],
    )


if __name__ == "__main__":
    main()
