"""A family of noise that the package does not know: it is one class, and its name in the list.

Catches a check, a plan or a proof that knows the families by name, and has none for a new one.
"""

import math
import tomllib
from typing import Any

import numpy as np
import pytest
from claims import COARSE, histogram, in_toml
from click.testing import CliRunner
from flint import arb
from numpy.typing import NDArray
from scipy.special import betainc, gammaln

from dpassay.reference.arrays import Vector
from dpassay.reference.numbers import sample
from dpassay.reference.numbers.additive import Additive, Rival
from dpassay.reference.numbers.families import FAMILIES, Gaussian, Laplace
from dpassay.verifiers.cli import commands
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

FREEDOM = 4
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)


class StudentT(Additive):
    """Noise by Student's t with four degrees of freedom, times a scale.

    A move by d never makes a number likelier by more than its pure epsilon, which no tail reaches.
    """

    family = "student-t"
    unit_spread = math.sqrt(FREEDOM / (FREEDOM - 2.0))
    pure = True

    def _log_density(self, value: Vector) -> Vector:
        gammas = gammaln(0.5 * (FREEDOM + 1)) - gammaln(0.5 * FREEDOM)
        log_middle = gammas - 0.5 * math.log(FREEDOM * math.pi) - math.log(self.scale)
        squared = np.square(value / self.scale)
        return np.asarray(log_middle - 0.5 * (FREEDOM + 1) * np.log1p(squared / FREEDOM))

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        """Narrow intervals by quadrature of the density, wide ones by the tails at their ends."""
        middle, half = np.broadcast_arrays(np.abs(np.asarray(center, dtype=np.float64)), half)
        at = middle[..., None] + half[..., None] * _NODES
        by_density = np.log(half) + np.log(np.exp(self._log_density(at)) @ _WEIGHTS)
        beyond, far = self.log_survival(middle - half), self.log_survival(middle + half)
        with np.errstate(divide="ignore"):
            by_tails = beyond + np.log(-np.expm1(np.minimum(far - beyond, 0.0)))
        return np.where(half < 0.1 * self.scale, by_density, by_tails)

    def log_cdf(self, value: Vector) -> Vector:
        squared = np.square(np.asarray(value, dtype=np.float64) / self.scale)
        tail = 0.5 * betainc(0.5 * FREEDOM, 0.5, FREEDOM / (FREEDOM + squared))
        with np.errstate(divide="ignore"):
            return np.where(np.asarray(value) < 0, np.log(tail), np.log1p(-tail))

    def exceeded(self, log_share: Vector) -> Vector:
        """The quantile of four degrees of freedom is a root of a cubic (Shaw 2006)."""
        above = np.exp(np.minimum(log_share, np.log(-np.expm1(np.minimum(log_share, -1e-300)))))
        root = np.sqrt(4.0 * above * (1.0 - above))
        size = 2.0 * np.sqrt(np.maximum(np.cos(np.arccos(root) / 3.0) / root - 1.0, 0.0))
        return np.where(np.asarray(log_share) <= math.log(0.5), size, -size) * self.scale

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return rng.standard_t(FREEDOM, shape) * self.scale

    def rivals(self) -> list[Rival]:
        return [*self.like(Gaussian), *self.like(Laplace)]

    def pure_epsilon(self, by: float, times: int = 1) -> float:
        """The ratio of densities is largest where its derivative is 0, a root of a square."""
        d = by / self.scale
        at = 0.5 * (d + math.sqrt(d * d + 4.0 * FREEDOM))
        ratio = (FREEDOM + at * at) / (FREEDOM + (at - d) ** 2)
        return times * 0.5 * (FREEDOM + 1) * math.log(ratio)

    def enclosed_survival(self, value: arb, whole: int | None = None) -> arb:
        u = value / arb(self.scale)
        inner = 1 + u * u / 4
        return arb(0.5) - arb(3) / 8 * u / inner.sqrt() * (1 - u * u / inner / 12)


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, StudentT.family, StudentT)


MECHANISM = histogram("student-t:2", 4)


def run(scale: float, **tables: dict[str, Any]) -> Report:
    """A report on the reference with so many times the claimed noise."""
    claim = parse_claim(tomllib.loads(in_toml(mechanism=MECHANISM, gate=COARSE, **tables)))
    aggregation, rng = claim.mechanism.aggregation, np.random.default_rng(3)

    def aggregate(values: Any, size: int) -> Any:
        exact = aggregation.exact(values)
        return exact + scale * (sample(aggregation, values, size, rng) - exact)

    return verify(InProcessTarget(aggregate, release=claim.release), claim, seed=1)


@pytest.mark.parametrize("center", [0.0, 0.3, -7.0, 1e6])
def test_its_laws_agree(center: float) -> None:
    """Masses by the density, by tails in floating point, and by tails in ball arithmetic."""
    noise = StudentT(2.0)
    for half in (0.19, 0.21):
        low, high = (noise.enclosed_survival(arb(center + sign * half)) for sign in (-1, 1))
        found = float(np.exp(noise.log_mass(np.array(center), half)))
        assert found == pytest.approx(float((low - high).mid()), rel=1e-6, abs=1e-12)
    shares = np.log([0.9, 0.5, 0.01, 2.0**-60, 2.0**-300])
    assert noise.log_survival(noise.exceeded(shares)) == pytest.approx(shares, abs=1e-8)


@pytest.mark.slow("over half a second")
def test_it_is_planned_for(tmp_path: Any) -> None:
    path = tmp_path / "claim.toml"
    path.write_text(in_toml(mechanism=MECHANISM, gate=COARSE), encoding="utf-8")
    ended = CliRunner().invoke(commands, ["plan", "--claim", str(path)])
    assert ended.exit_code == 0, ended.output
    assert "student-t:2" in ended.output


@pytest.mark.slow("over half a second")
def test_its_reference_passes() -> None:
    """A right deployment fails with probability 1e-6 at most."""
    report = run(1.0)
    messages = [(c.id, c.message) for c in report.checks if c.verdict is Verdict.FAIL]
    assert report.verdict is Verdict.PASS, messages


@pytest.mark.slow("over half a second")
def test_half_of_its_scale_fails() -> None:
    report = run(0.5)
    failed = {check.id: check.code for check in report.checks if check.verdict is Verdict.FAIL}
    assert failed["noise-scale"] == "scale-too-small"


@pytest.mark.slow("over half a second")
def test_what_it_costs_is_not_known() -> None:
    """No accountant composes it: its budget is held against nothing, and all else is tested."""
    report = run(1.0, privacy={"epsilon": 200.0, "delta": 1e-6, "queries": 100})
    privacy = next(check for check in report.checks if check.id == "privacy-claim")
    assert (privacy.verdict, privacy.code) == (Verdict.NOT_APPLICABLE, "cost-not-computed")
    assert report.verdict is Verdict.PASS
