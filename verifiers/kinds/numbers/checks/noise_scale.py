"""`noise-scale`: an interval of the noise's scale that holds at every number of draws."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from ....evidence.parts import Parts
from ....evidence.scale import ScaleEvidence, scale_factors
from ....findings.evidence_text import NEAREST
from ....findings.excluded import Excluded, Measured
from ....findings.figures import finite
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ..evidence.bins import Placed, bins_of, log_tables
from ..evidence.derived_noise import AllScales
from ..evidence.described import NOT_DESCRIBED, is_refuted
from ..evidence.expected_draws import divergence, expected_draws
from ..evidence.faults import of_scale
from ..planning.asked import Draws
from .base import BY_INTERVAL, NumberCheck

_AT_ONCE, _FEW = 1 << 13, 200  # draws
_ALIKE = 2.0  # nats by which the likeliest scale may be likelier than a known one
_KNOWN = {"half": 0.5, "twice": 2.0}
_SHARE = 0.1  # of the draws wait to be looked at together: few at a time take as long as many


class NoiseScale(NumberCheck):
    """Wagers on all scales of the claimed family; the null is the claimed scale."""

    id = "noise-scale"
    evidence: ScaleEvidence

    def begin(self) -> None:
        self.evidence = ScaleEvidence(scale_factors(self.gate.tolerance))
        self._at_once: NumberNoise | None = None
        if not self.noise.family.whole:
            family, factors = self.noise.family, self.evidence.factors[:, None]
            self._at_once = replace(self.noise, family=AllScales(family, factors))
        self._waiting: list[Placed] = []
        self._counts: Vector = np.zeros(0)  # of draws by bin

    @cached_property
    def _laws(self) -> Sequence[NumberNoise]:
        """The claimed noise at every scale; made late, since planning does without."""
        return [self.noise.times(float(factor)) for factor in self.evidence.factors]

    @cached_property
    def _table(self) -> Matrix:
        """Log-probabilities (f, bins) of every scale; made late too."""
        return log_tables(bins_of(self.noise), tuple((law.family, 0.0) for law in self._laws))

    def observe(self, draws: Draws) -> None:
        self._waiting.append(draws.placed)
        new = sum(waiting.y.size for waiting in self._waiting)
        if new < _SHARE * self.draws:
            return
        if self._table.size:
            counts = sum((placed.counted() for placed in self._waiting), np.zeros(1))
            self._counts = counts + (self._counts if self._counts.size else 0.0)
            self.evidence.add(self._table @ counts)
        parts = [placed.of_left() for placed in self._waiting]
        y, x, half = (np.concatenate(column) for column in zip(*parts, strict=True))
        self._waiting = []
        for start in range(0, y.size, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            found = self._log_likelihoods(y[part], x[part], half[part])
            if np.isfinite(found).any():  # what no scale allows is for the law's own check
                self.evidence.add(found)
        self.draws += new

    def _log_likelihoods(self, y: Vector, x: Vector, half: Vector) -> Vector:
        """Log-likelihoods (f,) of the scales, for released (n,), exact (n,) and half-widths (n,).

        Few draws are looked at for all scales at once, which takes a tenth of the time.
        """
        if self._at_once is not None and y.size <= _FEW:
            return np.asarray(self._at_once.log_mass(y, x, half).sum(-1))
        return np.array([law.log_mass(y, x, half).sum() for law in self._laws])

    @property
    def parts(self) -> Parts:
        """Every scale, by its likelihood ratio to the claimed one."""
        return self.evidence.parts

    @property
    def interval(self) -> tuple[float, float] | None:
        """The least and the largest scale that are not refuted; None where every scale is."""
        found = self.evidence.interval(self.log_threshold)
        if found is None:
            return None
        scale = self.noise.family.scale
        return found[0] * scale, found[1] * scale

    def samples_needed(self) -> int:
        """Until scales beyond the tolerance are refuted."""
        found, tolerance = self.evidence.interval(self.log_threshold), self.gate.tolerance
        if found is None or (found[0] >= 1.0 - tolerance and found[1] <= 1.0 + tolerance):
            return 0
        return max(1_000, self.draws)

    def fail_finding(self) -> Finding:
        scale, found = self.noise.family.scale, self.interval
        best, logs = self.evidence.best, self.evidence.log_likelihoods
        odds = float(logs.max() - logs[np.abs(self.evidence.factors - 1.0).argmin()])
        if found is None:
            message = f"no scale of {self.noise.family.family} noise explains the releases"
            return Finding(message, code="law-unexplained")
        if self._counts.size and is_refuted(self._counts, self._table[logs.argmax()]):
            message = f"no scale of {self.noise.family.family} noise describes the releases"
            return Finding.caused(message, NOT_DESCRIBED, odds)
        most = self.law.contributions
        known = next((word for word, factor in _KNOWN.items() if self.is_likely(factor)), None)
        cause = of_scale(_KNOWN.get(known or "", best), known or f"{best:.3g} times")
        if most > 1 and self.is_likely(1.0 / most):
            words = f"noise of 1/{most} of the claimed scale: max_contributions = {most} is missing"
            fields: Fields = {"factor": 1.0 / most, "missing": "max_contributions"}
            cause = Note("sensitivity-too-small", words, fields)
        message = f"the scale lies from {found[0]:.4g} to {found[1]:.4g}, and {scale:g} is claimed"
        told = Finding.caused(message, cause, odds, low=found[0], high=found[1], claimed=scale)
        measured = self._measured(found)
        return replace(told, diagnosis=f"{cause} ({NEAREST})", measured=measured)

    def _measured(self, found: tuple[float, float]) -> Measured:
        low, high = found
        return Measured(what="scale", low=low, high=finite(high), confidence=self.confidence)

    def is_likely(self, factor: float) -> bool:
        """Whether a known factor of the scale explains the draws as well as any."""
        logs = self.evidence.log_likelihoods
        place = int(np.abs(np.log(self.evidence.factors / factor)).argmin())
        return bool(logs[place] >= logs.max() - _ALIKE)

    @property
    def _beyond(self) -> dict[str, float]:
        """The factors of the scale that a pass refutes, by the code of a fault."""
        tolerance = self.gate.tolerance
        return {"scale-too-small": 1.0 - tolerance, "scale-too-large": 1.0 + tolerance}

    @property
    def expected_draws(self) -> float:
        """Draws that a pass is expected to take."""
        tells = (divergence(self.noise, self.noise.times(f), 0.0) for f in self._beyond.values())
        return expected_draws(self.log_threshold, min(tells))

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """A pass has the whole interval within the tolerance."""
        draws, sure = math.ceil(self.expected_draws), self.confidence
        return tuple(
            self.entry(code, {"factor": f}, self.roles, draws, method=BY_INTERVAL, probability=sure)
            for code, f in self._beyond.items()
        )

    def pass_finding(self) -> Finding:
        found, measured, ends = self.interval, None, "nowhere"
        if found is not None:
            low, high = found
            ends = f"from {low:.4g} to {high:.4g}"
            measured = self._measured(found)
        text = (
            f"the scale lies {ends}, if the noise is of the claimed family (confidence 1 - "
            f"{1.0 - self.confidence:.2g}); {self.noise.family.scale:g} is claimed"
        )
        return Finding(text, excludes=self.excluded, measured=measured)
