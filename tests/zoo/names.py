"""By what code, and with which fields, the finding on a broken aggregator should name its fault.

Codes of the faults of the labels' law are those of `planning/faults.py` and the files of faults
beside it, and of `checks/numbering.py`, under `verifiers/kinds/labels/`; of noise that is not fresh
those of `checks/reuse.py`, of what depends on the order of calls those of `checks/order.py`. What
is left out has no name there, and the right finding gives none.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .claims import SCALE, SIGMA

ANY = (-math.inf, math.inf)
"""A field with whatever number."""


@dataclass(frozen=True)
class Cause:
    """A code, and its fields as far as they matter: a value, or the ends of an interval."""

    code: str
    fields: Mapping[str, Any]

    def is_told(self, code: str | None, fields: Mapping[str, Any]) -> bool:
        """Whether a finding has this code, and these fields among its own."""
        told = code == self.code and self.fields.keys() <= fields.keys()
        return told and all(_is_near(fields[name], value) for name, value in self.fields.items())


Named = tuple[Cause, ...]
"""Causes of which any is right."""


def is_told(named: Named | None, code: str | None, fields: Mapping[str, Any]) -> bool:
    """Whether a finding names the fault that is there."""
    return any(cause.is_told(code, fields) for cause in named or ())


def _is_near(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return found is not None and bool(wanted[0] <= found <= wanted[1])
    if isinstance(wanted, float):
        return math.isclose(found, wanted, rel_tol=1e-4)
    return bool(found == wanted)


def of(code: str, **fields: Any) -> Named:
    """One cause."""
    return (Cause(code, fields),)


NO_NOISE = of("noise-missing")
BARE_IN_SINGLE_CALLS = of("noise-missing", calls="single")
SEEDED_IN_CALLS = of("seed-set-each-call")
KEPT = of("answers-kept")
REUSED = of("noise-reused")
CORRELATED = of("noise-correlated") + of("noise-reused", distance=1)
BALANCED = of("draws-balanced", factor=(0.0, 1.0))


def scale(factor: float, **more: Any) -> Named:
    """Noise of another scale."""
    return of("scale-too-small" if factor < 1.0 else "scale-too-large", factor=factor, **more)


def family(name: str, at: float) -> Named:
    """Noise of another family, of about this scale."""
    return of("noise-family-differs", family=name, scale=(at - 0.01, at + 0.01))


_SCALE = {
    "no-noise": NO_NOISE,
    "half-scale": scale(0.5),
    "double-scale": scale(2.0),
    "nine-tenths-scale": scale(0.9),
    "root-scale": scale(SIGMA**-0.5),
    "square-scale": scale(SIGMA),
    "inverse-scale": scale(SCALE**-2.0),
    "unit-scale-cast-to-int": scale(1.0 / SCALE),
    "half-sensitivity": scale(0.5),
    "one-of-two-parties": scale(0.5**0.5),
    "noise-added-twice": scale(2.0**0.5),
    "votes-counted-twice": scale(0.5),
}

_FAMILIES = {
    "laplace-equal-variance": family("laplace", 28.28),
    "laplace-same-scale": family("laplace", 40.0),
    "gaussian-for-laplace": family("gaussian", 28.28),
    "gumbel-equal-variance": family("gumbel", 31.19),
    "permute-and-flip-for-gumbel": family("exponential", 20.0),
    "clipped-at-2-sigma": of("noise-clipped", scales=2.0),
}

_CLASSES = {
    "ten-classes-hard-coded": of("noise-missing-on-classes", from_class=10),
    "last-class-forgotten": of("noise-missing-on-classes", **{"class": 9}),
    "empty-classes-forgotten": of("noise-missing-on-classes", classes="without votes"),
    "one-noise-for-all-classes": NO_NOISE,
    "half-shared-noise": scale(0.5**0.5),
    "first-class-favoured": of("class-favoured", **{"class": 0}),  # ten votes; 4 and 14 are known
    "class-0-four-votes-more": of("class-favoured", votes=4.0, **{"class": 0}),
    "class-0-six-votes-fewer": of("class-favoured", votes=-4.0, **{"class": 0}),
    "last-class-wins-near-ties": of("class-favoured", votes=4.0, **{"class": 9}),
    "background-never-released": of("class-left-out", **{"class": 0}),
}


def beyond(least: float, most: float, **more: Any) -> Named:
    """No noise where the lead is more than about this."""
    return of("noise-missing-beyond-lead", lead=(least, most), **more)


_INPUTS = {
    "single-bare-beyond-20": beyond(20.0, 20.0, calls="single"),
    "single-bare-beyond-80": beyond(80.0, 80.0, calls="single"),
    "bare-beyond-160": beyond(100.0, 199.9),  # the known leads are few
    "bare-beyond-200": beyond(*ANY),
    "clear-lead-shortcut": beyond(80.0, 80.0),
    "noise-breaks-ties-alone": NO_NOISE,
    "single-answers-bare": BARE_IN_SINGLE_CALLS,
    "first-of-call-bare": BARE_IN_SINGLE_CALLS,
}

_KINDS = {
    "scaled-from-200-votes": of("votes-rescaled", from_votes=200, to=250),
    "threshold-of-the-share": of("threshold-of-the-share"),
    "threshold-of-the-share-from-200": of("threshold-of-the-share"),
}

_SUPPORTS = {f"half-for-{k}-classes": scale(0.5, voted_for=k) for k in (3, 5, 8)} | {
    "half-for-2-classes": scale(0.5, voted_for=2) + scale(0.5, voted_for_at_most=2)
}  # of one class alone a label tells nothing

_FORMS = {
    "teacher-0-thrice": of("teacher-counted-often", times=3),
    "teacher-100-thrice": of("teacher-counted-often", times=3),
    "teacher-200-thrice": of("teacher-counted-often", times=3),
    "teacher-0-of-50-thrice": of("teacher-counted-often", times=3),
    "teacher-30-of-50-thrice": of("teacher-counted-often", times=3),
    "inputs-in-lockstep": of("seed-of-the-votes"),
}

_REUSE = {
    "one-seed-each-call": SEEDED_IN_CALLS,
    "batch-kept": SEEDED_IN_CALLS,  # of one seed every call begins alike, too
    "seed-from-histogram": SEEDED_IN_CALLS + REUSED,
    "seed-from-clock": REUSED,
    "eight-bit-seeds": REUSED,
    "forked-workers": REUSED,
    "13-bit-seeds": REUSED,
    "16-bit-seeds": REUSED,
    "seed-from-milliseconds": REUSED,
    "one-seed-for-every-histogram": of("noise-shared-across-inputs"),
    "one-seed-for-each-of-250-votes": of("noise-shared-across-inputs"),
    "one-seed-for-each-total": of("noise-shared-across-totals"),
    "noise-drawn-at-import": KEPT,
    "frozen-per-histogram": KEPT,
    "one-noise-a-call": of("noise-once-per-call"),
    "pool-of-64": REUSED,
    "pool-of-1000": REUSED,
    "pool-of-10000": REUSED,
    "single-pool-of-1000": REUSED,
    "block-of-100-tiled": REUSED,
    "block-of-10000-tiled": REUSED,
    "each-noise-twice": REUSED,
    "every-512th-repeats": REUSED,
    "half-repeat": REUSED,
    "antithetic": of("noise-correlated") + of("noise-in-opposite-pairs"),
    "autocorrelated": CORRELATED,
    "noise-accumulates": CORRELATED,
    "antithetic-halves": of("noise-in-opposite-pairs") + BALANCED,
    "last-call-negated": of("noise-kept-between-calls"),
    "systematic": BALANCED,
    "latin-hypercube": BALANCED,
    "antithetic-shuffled": BALANCED,
    "pairs-sorted": of("answers-sorted"),
    "part-of-the-noise-once-a-call": of("drawn-once-per-call"),
    "seed-behind-a-server": of("seed-fixed"),
    "eight-seeds-in-turn": of("seeds-come-again"),
    "four-seeds-in-turn": of("seeds-come-again"),
    "seed-of-the-process-id": of("seed-of-process-id") + of("seed-fixed"),
    "seed-of-the-process-id-by-command": of("seed-of-process-id") + of("seed-fixed"),
    "state-saved-every-50-calls": of("state-replayed"),
    "noise-of-a-hash": of("labels-follow-votes"),
    "noise-of-a-hash-kept": of("labels-follow-votes"),
    "one-seed-for-two-noises": of("screening-shares-draws", offset=0),
    "one-seed-votes-if-answered": of("screening-shares-draws", offset=0),
    "one-seed-five-ahead": of("screening-shares-draws", offset=5),
    "one-draw-overlaps": of("noise-overlaps", stride=9) + CORRELATED,
    "two-of-one-seed-in-turn": of("generators-in-step", generators=2) + REUSED,
}

_LATE = {
    "none-after-5000": of("noise-missing", from_query=ANY),
    "half-after-20000": scale(0.5, from_query=ANY),
    "half-after-60000": scale(0.5, from_query=ANY),
    "tenth-less-after-140000": scale(0.9, from_query=ANY),
    "none-after-500-calls": of("noise-missing", from_query=ANY),
    "none-among-first-2000": of("noise-missing-after-start", first=True) + NO_NOISE,
    "one-in-twenty-bare": of("noise-missing-at-times", share=0.05),
}

_OUTPUT = {
    "argmin": of("smallest-count-released"),
    "plurality-leaks": of("noise-missing-at-times", share=0.05),
    "uniform-leaks": of("votes-ignored-at-times", share=(0.02, 0.05)),
    "next-label": of("classes-renumbered", shift=1),
    "labels-in-order-of-text": of("classes-renumbered", classes=ANY),
}

_SCREENING = {
    "threshold-tenth-higher": of("threshold-too-high", threshold=(200.0, 300.0), claimed=200.0),
    "answers-all": of("threshold-not-applied"),
    "screens-without-noise": of("threshold-noise-too-small", factor=1e-3),
    "screens-with-half-the-noise": of("threshold-noise-too-small", factor=0.5),
    "scales-swapped": of("noise-scales-swapped"),
    "plurality-when-answering": NO_NOISE,
    "one-screening-a-call": of("screening-once-per-call") + of("drawn-once-per-call"),
}

_SAMPLED = {
    "all-teachers-vote": of("teachers-not-sampled"),
    "the-others-vote": of("other-teachers-sampled"),
    "noise-of-the-share": of("noise-scaled-by-sampling"),
    "drawn-with-replacement": of("sampling-way-differs", way="with-replacement"),
    "sampled-once-per-call": of("drawn-once-per-call"),
    "sampled-once": of("sampled-teachers-kept"),
    "charged-as-poisson": of("other-sampling-charged"),
}

_WEIGHTS = {
    "weights-left-out": of("weights-differ", weights="left out"),
    "weights-squared": of("weights-differ", weights="squared"),
    "weights-to-the-mean": of("weights-differ", weights="over their mean"),
    "groups-swapped": of("weights-differ", weights="groups reversed"),
    "heaviest-charged-as-one": of("weights-not-charged"),
}

ORDER = "labels-depend-on-order"

_ORDER = {
    "half-in-long-sure-times": of(ORDER, running_consensus=ANY),
    "quarter-on-the-third-with-one-leader": of(ORDER, same_leader=(2, 9)),
    "half-on-the-second-confident-call": of(ORDER, leader_of_teachers=ANY, in_a_row=2),
    "kept-for-near-queries": of("labels-repeat-calls", calls_before=1),
    "second-answers-bare": of(ORDER, call=2) + of(ORDER, from_call=2),
    "screened-once-in-a-streak": of(ORDER, fault="threshold-not-applied")
    + of("noise-changes-at-times", fault="threshold-not-applied"),
}

_NEIGHBOURS = {
    "one-more-or-less-for-moved-votes": of("fewer-votes-charged", counts_moved=1),
    "half-of-one-more-or-less": of("charge-too-low", fraction=0.5),
    "record-of-three-as-of-one": of("fewer-votes-charged", counts_moved=2),
    "record-of-three-metered-as-one": of("cost-above-claim", holds_for="one moved vote"),
    "textbook-of-moved-votes": of("fewer-votes-charged", counts_moved=1),
}

_ROUNDING = {
    "counts-cut": of("rounding-differs", rounding="cut or floor or round", tie="first"),
    "noise-cut-at-15": of("rounding-differs", rounding="cut-noise"),
    "counts-rounded-at-2": of("rounding-differs", rounding="round", tie="first"),
    "floor-for-round": of("rounding-differs", rounding="cut or floor or cut-noise"),
    "round-for-cut": of("rounding-differs", rounding="round", tie="first"),
    "ties-to-last": of("rounding-differs", tie="last"),
    "counts-cut-for-noise": of("rounding-differs", rounding="cut or floor or round"),
}

_OUTCOMES = {
    "realised-screening-unpaid": of("screening-not-charged", part="screening", share=0),
    "refusals-free": of("screening-not-charged", part="screening", share=0),
    "answer-at-half": of("charge-too-low", part="answer", fraction=0.5),
    "expected-for-realised": of("answer-not-charged", part="answer", share=0),
    "half-beyond-32": of("high-orders-undercharged", up_to_order=32.0, fraction=(0.49, 0.51)),
    "by-votes-for-data-independent": of("charges-depend-on-votes"),
    "forgets-in-mid-run": of("account-falls"),
    "stops-when-asked-for-spent": of("enforced-only-when-read"),
    "budget-for-each-histogram": of("answers-not-added-up"),
    "spent-on-answers-alone": of("screening-not-charged"),
}

NAMED: dict[str, Named] = {
    **_SCALE,
    **_FAMILIES,
    **_ROUNDING,
    **_CLASSES,
    **_INPUTS,
    **_KINDS,
    **_SUPPORTS,
    **_FORMS,
    **_REUSE,
    **_LATE,
    **_SAMPLED,
    **_WEIGHTS,
    **_ORDER,
    **_OUTPUT,
    **_SCREENING,
    **_NEIGHBOURS,
    **_OUTCOMES,
}
