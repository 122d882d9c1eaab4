"""`dpassay exposure`: how far a model exposes canaries, and which are extracted."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import click
import numpy as np
from pydantic import Field

from ...reference.arrays import Array
from ..cli.exit_statuses import fail, json_option, need, print_found
from ..cli.options import WholeNumber, option_with_default, typed_options
from ..findings.document import Document
from ..inputs.input_error import InputError
from ..targets import TargetError
from ..targets.spec import load

if TYPE_CHECKING:  # it loads scipy.stats, most of a second
    from ...attacks.memorisation import Exposure, Scorer, Template

_REFUTED = 0.05  # a p-value of the fit below which its extrapolation is not to be trusted
_DEMO_LINES = 2_000
_DEMO_DIGITS = 6
_DEMO_STEPS = 700
_DEMO_TIMES = (1, 2, 4, 10)  # so often a canary is inserted


@click.command()
@click.argument("scorer", required=False)
@click.option("--template", metavar="TEXT", help="Of the canaries, such as 'pin of eve: [0-9]{6}'.")
@click.option(
    "--canary",
    "canaries",
    metavar="TEXT",
    multiple=True,
    help="A string of the template that the training data held; may be given several times.",
)
@click.option("--demo", is_flag=True, help="Train a small model here, with canaries in its data.")
@click.option("--extract", is_flag=True, help="Search for the canaries that are exposed enough.")
@option_with_default(
    "--strings",
    type=WholeNumber(1_000, 1_000_000),
    default=10_000,
    help="Scored of each template, all if there are no more.",
)
@option_with_default("--seed", type=WholeNumber(0, 2**63 - 1), default=0)
@json_option
@click.pass_context
def exposure(
    context: click.Context,
    *,
    scorer: str | None,
    template: str | None,
    canaries: tuple[str, ...],
    demo: bool,
    extract: bool,
    strings: int,
    seed: int,
    as_json: bool,
) -> None:
    """Tell how far training has exposed canaries, by SCORER.

    SCORER is package.module:attr or path/to/file.py:attr, a callable that takes a list of strings
    and gives the log-perplexity of each. A space of up to --strings is ranked as a whole; of a
    larger one a sample is, with a 95 % interval, and where the sample does not reach, a skew-normal
    is fitted to it. --extract scores beginnings of strings too. --demo needs what
    dpassay[gradients] installs.
    """
    if demo:
        given = typed_options(context, {"demo", "extract", "strings", "seed", "as_json"})
        if scorer is not None or given:
            fail("--demo has a model and canaries of its own: give neither SCORER nor others")
        need("exposure --demo", "jax", "optax")
    elif scorer is None or template is None or not canaries:
        fail("give SCORER, --template TEXT and --canary TEXT, or --demo alone")
    request = ExposureRequest(strings=strings, extract=extract, seed=seed)
    try:
        if scorer is None or template is None:
            found = demo_exposures(request)
        else:
            found = exposures_by(scorer, template, canaries, request)
    except ValueError as error:
        fail(InputError(" ".join(str(error).split())))
    print_found(found, as_json)


class ExposureRequest(Document):
    """What is asked of a model."""

    strings: int = Field(ge=1, description="How many strings of each space were scored, at most.")
    extract: bool = Field(description="Whether the canaries were searched for, too.")
    seed: int = Field(ge=0)


class Line(Document):
    """One canary: its exposure, with a 95 % interval."""

    canary: str
    bits: float = Field(ge=0, description="The largest exposure that a string of its space has.")
    score: float = Field(description="Its log-perplexity, as the scorer gives it.")
    how: Literal["exact", "sampled", "extrapolated"] = Field(
        description="Every string of the space was scored; or a sample; or a skew-normal was "
        "fitted to a sample, which hardly reaches down to the canary."
    )
    value: float = Field(ge=0, description="Its exposure in bits.")
    low: float = Field(ge=0)
    high: float = Field(ge=0)
    at_least: float = Field(
        ge=0, description="A lower bound of the exposure that assumes nothing, of 97.5 %."
    )
    distance: float | None = Field(
        ge=0,
        description="The Kolmogorov-Smirnov distance of the sample from the fitted skew-normal.",
    )
    p_value: float | None = Field(ge=0, le=1, description="Of the fit.")
    guess: int | None = Field(
        ge=1, description="At which guess it was extracted; null where it was not."
    )
    inserted: int | None = Field(
        ge=0, description="How often it stood in the training data, where that is known."
    )

    @property
    def extracted(self) -> str:
        """After how many strings the canary comes, which is its rank."""
        if self.guess is None:
            return "not found"
        rank = f"{self.guess:,} strings" if self.guess > 1 else "1 string"
        return f"{rank}: {self.bits - math.log2(self.guess):.1f} bits"


class FoundExposures(ExposureRequest):
    """The exposures of all canaries (Carlini et al. 2019, arXiv 1802.08232)."""

    scorer: str = Field(description="The model.")
    lines: tuple[Line, ...]

    def as_text(self) -> str:
        """A table, and what its figures rest on."""
        width = max(len("canary"), *(len(line.canary) for line in self.lines))
        counted = self.lines[0].inserted is not None
        heads = f"{'canary':{width}}{'inserted' * counted:>{10 * counted}}{'exposure, bits':>24}"
        text = [
            f"Canaries in {self.scorer}",
            f"{heads}{'of':>7}  {'how':14}{'extracted after' * self.extract}".rstrip(),
        ]
        for line in self.lines:
            often = "" if line.inserted is None else line.inserted
            figure = f"{line.value:.1f}"
            if line.how != "exact":
                figure += f" ({line.low:.1f} to {line.high:.1f})"
            text.append(
                f"{line.canary:{width}}{often:>{10 * counted}}{figure:>24}{line.bits:>7.1f}  "
                f"{line.how:14}{line.extracted * self.extract}".rstrip()
            )
        return "\n".join([*text, *self._notes()])

    def _notes(self) -> list[str]:
        """What the reader has to know of how the figures were found."""
        hows = {line.how for line in self.lines}
        notes = []
        if hows != {"exact"}:
            notes.append(f"Intervals are of 95 %, from {self.strings:,} strings drawn at random.")
        if "extrapolated" in hows:
            notes.append(
                "Extrapolated: the sample hardly reaches so low; a skew-normal is assumed."
            )
        for line in self.lines:
            if line.how == "extrapolated" and line.p_value is not None:
                verdict = "the sample refutes it" if line.p_value < _REFUTED else "not refuted"
                notes.append(
                    f"{line.canary}: fit at distance {line.distance:.3f}, p = "
                    f"{line.p_value:.2f} ({verdict}); without it at least {line.at_least:.1f} "
                    "bits"
                )
        return notes


@dataclass(frozen=True)
class _Vendor:
    """The vendor's scorer, whose mistakes are told in one line that names it.

    largest: of the scores of each call.
    """

    spec: str
    scorer: Any
    largest: list[float] = field(default_factory=list)

    def __call__(self, strings: list[str]) -> Array:
        try:
            found = np.asarray(self.scorer(list(strings)))
        except Exception as error:
            raised = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ValueError(f"for {strings[0][:60]!r} it raised {raised}") from error
        if found.size and found.dtype.kind in "if":
            self.largest.append(float(found.max()))
        return found

    @property
    def wrong_sign(self) -> str | None:
        """What is wrong where all scores are negative, as no log-perplexity is; None elsewhere."""
        most = max(self.largest, default=0.0)
        if not most < 0.0:
            return None
        return (
            f"every score is negative, {most:.4g} at most, as log-probabilities are: expected "
            "log-perplexities, the lower the likelier: turn the sign, or add a constant to what is "
            "one already"
        )


def exposures_by(
    spec: str, text: str, canaries: Sequence[str], request: ExposureRequest
) -> FoundExposures:
    """The exposures of canaries of the template `text`, by the scorer that `spec` names.

    Raises ValueError of one line.
    """
    from ...attacks.memorisation import Template

    template = Template.parse(text)
    for canary in canaries:
        template.symbols_of(canary)
    try:
        found = load(spec)
    except TargetError as error:
        raise InputError(str(error), code=error.code) from None
    if not callable(found):
        raise ValueError(f"{spec}: expected a callable, strings -> log-perplexities")
    vendor = _Vendor(spec, found)
    try:
        lines = _lines(vendor, template, canaries, request)
    except ValueError as error:
        raise ValueError(f"{spec}: {vendor.wrong_sign or error}") from None
    if vendor.wrong_sign is not None:
        raise ValueError(f"{spec}: {vendor.wrong_sign}")
    return FoundExposures(**dict(request), scorer=spec, lines=tuple(lines))


def demo_exposures(request: ExposureRequest) -> FoundExposures:
    """The exposures of canaries in a model that is trained here first, in seconds; loads JAX."""
    from ...attacks.memorisation.trained_lines import (
        CharacterScorer,
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
        line
        for canary in planted
        for line in _lines(scorer, canary.template, (canary.text,), request, canary.times)
    ]
    model = f"a model trained here on {len(codes):,} lines"
    return FoundExposures(**dict(request), scorer=model, lines=tuple(found))


def _lines(
    scorer: "Scorer",
    template: "Template",
    canaries: Sequence[str],
    request: ExposureRequest,
    inserted: int | None = None,
) -> list[Line]:
    from ...attacks.memorisation import exposures

    return [
        Line(
            **asdict(found) | {"how": found.how.value},
            guess=_guess(scorer, template, found, request),
            inserted=inserted,
        )
        for found in exposures(scorer, template, canaries, request.strings, request.seed)
    ]


def _guess(
    scorer: "Scorer", template: "Template", found: "Exposure", request: ExposureRequest
) -> int | None:
    """The guess at which the canary comes, where its exposure leaves room for it."""
    from ...attacks.memorisation import guesses

    if not request.extract or found.bits - found.high > math.log2(request.strings):
        return None
    return guesses(scorer, template, found.canary, request.strings)
