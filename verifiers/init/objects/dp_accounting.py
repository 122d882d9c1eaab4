"""A DpEvent of dp_accounting: mechanism, sampling and how often, for which no target is there."""

import math
from typing import Any

from ...targets.replies import TargetError
from ..draft import Draft, Key
from ..numbers import ADJACENCY
from .said import Said, draft_any, one_release

_NOTHING = ("NoOpDpEvent", "NonPrivateDpEvent", "UnsupportedDpEvent")
_NORMS = {"GaussianDpEvent": ("gaussian", "L2"), "LaplaceDpEvent": ("laplace", "L1")}
_SHOWN = 5


def read(it: Any) -> Said | None:
    """Reads an event, or the ledger of an accountant; None for anything else of dp_accounting.

    Raises TargetError for an event that promises nothing.
    """
    event = getattr(it, "ledger", it)
    if not type(event).__name__.endswith("Event"):
        return None
    each = _unrolled(event)
    for one, _ in each:
        if type(one).__name__ in _NOTHING:
            raise TargetError(f"a {type(one).__name__} says no mechanism that could be claimed")
    if len(each) == 1:
        ((one, count),) = each
        said = _sampled(one, count) or _noisy(one, count) or _without_law(one)
        if said is not None:
            return said
    words = "; ".join(f"{count:,} x {one}" for one, count in each[:_SHOWN])
    words += f"; and {len(each) - _SHOWN} more" * (len(each) > _SHOWN)
    keys = [
        Key("name", None, "no claim says all of the event, which is", more=[words]),
        Key("noise", None, "of the mechanism that you verify: one claim for each"),
        ADJACENCY,
    ]
    return Said(Draft("what a DpEvent says", "any", keys))


def _unrolled(event: Any, times: int = 1) -> list[tuple[Any, int]]:
    """The events of a composition, equal ones once, and how often each is applied."""
    inner = getattr(event, "events", None)
    parts = [(event.event, event.count)] if type(event).__name__ == "SelfComposedDpEvent" else None
    parts = [(one, 1) for one in inner] if inner is not None else parts
    if parts is None:
        return [] if type(event).__name__ == "NoOpDpEvent" and times > 1 else [(event, times)]
    found: list[tuple[Any, int]] = []
    for one, count in parts:
        for event_of, number in _unrolled(one, times * count):
            place = next((n for n, (other, _) in enumerate(found) if other == event_of), None)
            if place is None:
                found.append((event_of, number))
            else:
                found[place] = (event_of, found[place][1] + number)
    return found


def _privacy(count: int, what: str) -> list[str]:
    """`[privacy]` of so many releases, to be filled in."""
    return [
        f"# [privacy]  # what you promise for all {what}",
        '# epsilon = "?"',
        '# delta = "?"',
        f"# queries = {count}  # read: how often the event is applied",
    ]


def _sampled(event: Any, count: int) -> Said | None:
    """Batches with Gaussian noise, drawn as a claim of batches can say."""
    name = type(event).__name__
    inner: Any = getattr(event, "event", None)
    if type(inner).__name__ != "GaussianDpEvent":
        return None
    if name == "PoissonSampledDpEvent":
        law = f"poisson:{float(event.sampling_probability)!r}"
        sampling = Key("sampling", law, f"read: {name}.sampling_probability")
        records = Key("records", None, "how many are there?")
    elif name == "SampledWithoutReplacementDpEvent":
        sampling = Key("sampling", f"fixed:{int(event.sample_size)}", f"read: {name}.sample_size")
        records = Key("records", int(event.source_dataset_size), "read: source_dataset_size")
    else:
        return None
    noise = Key(
        "noise_multiplier",
        float(inner.noise_multiplier),
        "read: GaussianDpEvent.noise_multiplier; the noise of a step over the clipping norm",
    )
    keys = [Key("name", "batches", f"read: {name}"), sampling, records, noise]
    return Said(
        Draft("batches of a training", "batches", keys, _privacy(count, "steps")),
        where="the sampler of batches, as train.py:next_batch",
    )


def _noisy(event: Any, count: int) -> Said | None:
    """Noise, of which the event says the scale over a sensitivity."""
    name = type(event).__name__
    if name == "DiscreteLaplaceDpEvent":
        scale = 1.0 / event.noise_parameter
        said = f"read: 1 / {name}.noise_parameter, of sensitivity {event.sensitivity}"
        noise = Key("noise", f"discrete-laplace:{scale!r}", said)
    elif name in _NORMS:
        family, norm = _NORMS[name]
        multiplier = float(event.noise_multiplier)
        said = (
            f"{family}:S, where S is {multiplier!r} ({name}.noise_multiplier) times the bound on "
        )
        said += f"the {norm} norm of a record"
        more = ["noisy-gradient alone has the multiplier itself"] if norm == "L2" else []
        noise = Key("noise", None, said, more=more)
    else:
        return None
    question = "noisy-count, noisy-histogram, noisy-sum, noisy-mean or noisy-gradient?"
    keys = [Key("name", None, question), noise, ADJACENCY]
    return Said(Draft("a noisy sum of records", "numbers", keys, _privacy(count, "releases")))


def _without_law(event: Any) -> Said | None:
    """A guarantee alone: rho of zCDP, or randomised response."""
    name = type(event).__name__
    if name == "ZCDpEvent" and event.xi == 0:
        privacy = ["[privacy]  # read: ZCDpEvent.rho, of one release", f"zcdp = {event.rho!r}"]
    elif name == "RandomizedResponseDpEvent" and 0 < event.noise_parameter < 1:
        p, k = event.noise_parameter, event.num_buckets
        told = "log(1 + num_buckets (1 - p) / p) of RandomizedResponseDpEvent"
        privacy = one_release(math.log1p(k * (1 - p) / p), 0.0, told)
    else:
        return None
    note = f"read: no claim names the law of {name}"
    question = "two neighbouring inputs of the deployment"
    return Said(draft_any("what the event allows", note, privacy, None, question))
