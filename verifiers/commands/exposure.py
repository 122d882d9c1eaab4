"""The work of `dpassay exposure`: how far a model exposes canaries, and which are extracted."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ...attacks.memorisation import Exposure, How, Scorer, Template, exposures, guesses
from ...reference.arrays import Array
from ..targets import TargetError
from ..targets.spec import load

_REFUTED = 0.05  # a p-value of the fit below which its extrapolation is not to be trusted
_DEMO_LINES = 2_000
_DEMO_DIGITS = 6
_DEMO_STEPS = 700
_DEMO_TIMES = (1, 2, 4, 10)  # so often a canary is inserted


@dataclass(frozen=True)
class ExposureRequest:
    """What is asked of a model: the canaries of a template; the strings scored of each space.

    extract: also search for each canary, among as many beginnings of strings.
    """

    template: str
    canaries: tuple[str, ...]
    strings: int
    extract: bool
    seed: int


@dataclass(frozen=True)
class Line:
    """One canary: its exposure, and the guess at which it was extracted, None where it was not.

    inserted: how often it stood in the training data, where that is known.
    """

    exposure: Exposure
    guess: int | None = None
    inserted: int | None = None

    @property
    def extracted(self) -> str:
        """After how many strings the canary comes, which is its rank."""
        if self.guess is None:
            return "not found"
        rank = f"{self.guess:,} strings" if self.guess > 1 else "1 string"
        return f"{rank}: {self.exposure.bits - math.log2(self.guess):.1f} bits"


@dataclass(frozen=True)
class FoundExposures:
    """The exposures of all canaries, of the model `scorer`."""

    scorer: str
    strings: int
    extract: bool
    seed: int
    lines: tuple[Line, ...]

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        each = [
            {**line.exposure.as_json(), "guess": line.guess, "inserted": line.inserted}
            for line in self.lines
        ]
        return {**asdict(self), "lines": each}

    def as_text(self) -> str:
        """A table, and what its figures rest on."""
        width = max(len("canary"), *(len(line.exposure.canary) for line in self.lines))
        counted = self.lines[0].inserted is not None
        heads = f"{'canary':{width}}{'inserted' * counted:>{10 * counted}}{'exposure, bits':>24}"
        text = [
            f"Canaries in {self.scorer}",
            f"{heads}{'of':>7}  {'how':14}{'extracted after' * self.extract}".rstrip(),
        ]
        for line in self.lines:
            found, often = line.exposure, "" if line.inserted is None else line.inserted
            figure = f"{found.value:.1f}"
            if found.how is not How.EXACT:
                figure += f" ({found.low:.1f} to {found.high:.1f})"
            text.append(
                f"{found.canary:{width}}{often:>{10 * counted}}{figure:>24}{found.bits:>7.1f}  "
                f"{found.how.value:14}{line.extracted * self.extract}".rstrip()
            )
        return "\n".join([*text, *self._notes()])

    def _notes(self) -> list[str]:
        """What the reader has to know of how the figures were found."""
        hows = {line.exposure.how for line in self.lines}
        notes = []
        if hows != {How.EXACT}:
            notes.append(f"Intervals are of 95 %, from {self.strings:,} strings drawn at random.")
        if How.EXTRAPOLATED in hows:
            notes.append(
                "Extrapolated: the sample hardly reaches so low; a skew-normal is assumed."
            )
        for line in self.lines:
            found = line.exposure
            if found.how is How.EXTRAPOLATED and found.p_value is not None:
                verdict = "the sample refutes it" if found.p_value < _REFUTED else "not refuted"
                notes.append(
                    f"{found.canary}: fit at distance {found.distance:.3f}, p = "
                    f"{found.p_value:.2f} ({verdict}); without it at least {found.at_least:.1f} "
                    "bits"
                )
        return notes


@dataclass(frozen=True)
class _Vendor:
    """The vendor's scorer, whose mistakes are told in one line that names it."""

    spec: str
    scorer: Any

    def __call__(self, strings: list[str]) -> Array:
        try:
            return np.asarray(self.scorer(list(strings)))
        except Exception as error:
            raised = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ValueError(f"for {strings[0][:60]!r} it raised {raised}") from error


def exposures_by(spec: str, request: ExposureRequest) -> FoundExposures:
    """The exposures by the scorer that `spec` names. Raises ValueError of one line."""
    template = Template.parse(request.template)
    for canary in request.canaries:
        template.symbols_of(canary)
    try:
        found = load(spec)
    except TargetError as error:
        raise ValueError(str(error)) from None
    if not callable(found):
        raise ValueError(f"{spec}: expected a callable, strings -> log-perplexities")
    try:
        lines = _lines(_Vendor(spec, found), template, request.canaries, request)
    except ValueError as error:
        raise ValueError(f"{spec}: {error}") from None
    return FoundExposures(spec, request.strings, request.extract, request.seed, tuple(lines))


def demonstrated(request: ExposureRequest) -> FoundExposures:
    """The exposures of canaries in a model that is trained here first, in seconds; loads JAX."""
    from ...attacks.memorisation.character_model import CharacterScorer
    from ...attacks.memorisation.trained_lines import (
        Training,
        canaries,
        lines,
        trained,
        with_canaries,
    )

    planted = canaries(_DEMO_TIMES, _DEMO_DIGITS, request.seed)
    codes = with_canaries(lines(_DEMO_LINES, request.seed), planted)
    scorer = CharacterScorer(trained(codes, Training(steps=_DEMO_STEPS, seed=request.seed)))
    found = [
        replace(_lines(scorer, canary.template, (canary.text,), request)[0], inserted=canary.times)
        for canary in planted
    ]
    name = f"a model trained here on {len(codes):,} lines"
    return FoundExposures(name, request.strings, request.extract, request.seed, tuple(found))


def _lines(
    scorer: Scorer, template: Template, canaries: Sequence[str], request: ExposureRequest
) -> list[Line]:
    found = exposures(scorer, template, canaries, request.strings, request.seed)
    return [Line(each, _guess(scorer, template, each, request)) for each in found]


def _guess(
    scorer: Scorer, template: Template, found: Exposure, request: ExposureRequest
) -> int | None:
    """The guess at which the canary comes, where its exposure leaves room for it."""
    if not request.extract or found.bits - found.high > math.log2(request.strings):
        return None
    return guesses(scorer, template, found.canary, request.strings)
