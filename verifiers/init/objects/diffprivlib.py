"""A mechanism of diffprivlib: epsilon, delta and sensitivity, which fix its noise."""

import math
from typing import Any

from ..draft import Draft, Key
from ..numbers import ADJACENCY
from .said import Said, draft_any, noise_text, one_release

_WHOLE = ("Geometric", "GeometricTruncated", "GeometricFolded", "GaussianDiscrete")
_CUT = ("LaplaceTruncated", "GeometricTruncated")
_FOLDED = ("LaplaceFolded", "GeometricFolded")
_BOUNDED = ("LaplaceBoundedDomain", "LaplaceBoundedNoise", "Snapping")
_ONE_NUMBER = (*_FOLDED, *_BOUNDED, "Uniform", "Staircase")
_MAX = {"Exponential": "gumbel", "PermuteAndFlip": "exponential"}


def read(it: Any) -> Said | None:
    """Reads a mechanism; None for anything else of diffprivlib."""
    if not type(it).__module__.startswith("diffprivlib.mechanisms."):
        return None
    if type(it).__name__ in _MAX and it.measure is None:
        return _selection(it)
    law = _law(it)
    return _of_epsilon(it) if law is None else _of_noise(it, *law)


def _law(it: Any) -> tuple[str, float, str] | None:
    """Family and scale of the noise, and the attributes that say it; None where it is another."""
    name = type(it).__name__
    if name in ("Laplace", "LaplaceTruncated"):
        scale = it.epsilon - math.log1p(-it.delta) if it.delta < 1 else math.inf
        said = "sensitivity / (epsilon - log(1 - delta))"
        return "laplace", it.sensitivity / scale if scale else math.inf, said
    if name in ("Geometric", "GeometricTruncated"):
        return "discrete-laplace", it.sensitivity / it.epsilon, "sensitivity / epsilon"
    if name in ("Gaussian", "GaussianAnalytic", "GaussianDiscrete"):
        family = "discrete-gaussian" if name in _WHOLE else "gaussian"
        return family, float(it._scale), "_scale, a standard deviation"
    return None


def _of_noise(it: Any, family: str, scale: float, said: str) -> Said:
    """Noise on one number: a count where the sensitivity is 1, else a sum of numbers up to it."""
    name, most = type(it).__name__, float(it.sensitivity)
    ends = {"min": it.lower, "max": it.upper} if name in _CUT else {}
    options = "".join(f";{key}={x:.17g}" for key, x in ends.items() if math.isfinite(x))
    noise = Key("noise", noise_text(family, scale, options), f"read: {name}.{said}")
    if noise.is_open:
        noise = Key("noise", None, f"{name} has scale {scale:g}: is there to be noise?")
    cast = "int" if name in _WHOLE else "float"
    if most == 1.0:
        keys = [Key("name", "noisy-count", "read: of a number, with sensitivity = 1"), noise]
        keys.append(ADJACENCY)
        value = f"{cast}(values[0])"
    else:
        keys = [
            Key("name", "noisy-sum", f"read: of a number, with sensitivity = {most:g}"),
            noise,
            ADJACENCY,
            Key("dimensions", 1, "read: of one number"),
            Key("lower", 0.0, "as the target beside this claim adds up numbers from 0"),
            Key("upper", most or None, "to the sensitivity"),
        ]
        value = f"{cast}(values[values > 0].clip(0, {most!r}).sum())"  # NaN counts as 0
    privacy = one_release(it.epsilon, it.delta, f"{name}.epsilon and .delta, of one release")
    draft = Draft("one number with noise", "numbers", keys, privacy)
    return Said(
        draft,
        [
            "def aggregate(values, size):",
            f"    return [[it.randomise({value})] for _ in range(size)]",
        ],
    )


def _selection(it: Any) -> Said:
    """A candidate by its utility: a noisy argmax, where utilities are votes."""
    name, halves = type(it).__name__, 1 if it.monotonic else 2
    scale = halves * it.sensitivity / it.epsilon if it.epsilon else math.inf
    said = f"read: {name}.sensitivity * {halves} / epsilon, as monotonic = {it.monotonic}"
    noise = Key("noise", noise_text(_MAX[name], scale), said)
    if noise.is_open:
        noise = Key("noise", None, f"{name} has scale {scale:g}: is there to be noise?")
    moves = f"a vote moves a utility by 1, sensitivity is {it.sensitivity:g}: "
    moves += "replace-one or add-remove?"
    if it.monotonic:
        moves += " monotonic = True says add-remove"
    draft = Draft(
        "labels, the candidate with most utility under noise",
        "labels",
        [
            Key("name", "report-noisy-max", f"read: {name} has its law, where utilities are votes"),
            noise,
            Key("classes", len(it.utility), "read: as many as there are utilities"),
            Key("teachers", None, f"votes in all; utilities add up to {sum(it.utility):g} here"),
            Key("adjacency", None, moves),
        ],
        [
            f"# [privacy]  # {name}.epsilon is {it.epsilon:g}, of one label, with delta 0",
            '# epsilon = "?"',
            '# delta = "?"',
            '# queries = "?"',
        ],
    )
    return Said(
        draft,
        [
            "def aggregate(histogram, size):",
            "    made = type(it)(",
            "        epsilon=it.epsilon,",
            "        sensitivity=it.sensitivity,",
            "        utility=[float(votes) for votes in histogram],",
            "        monotonic=it.monotonic,",
            "        random_state=it.random_state,",
            "    )",
            "    return [made.randomise() for _ in range(size)]",
        ],
    )


def _of_epsilon(it: Any) -> Said:
    """A mechanism whose law no claim can name."""
    name, pair = type(it).__name__, None
    question = f"two neighbouring inputs of {name}.randomise"
    if name == "Binary":
        pair, question = (it.value0, it.value1), "value0 and value1"
    elif name in _ONE_NUMBER:
        low, high = getattr(it, "lower", 0), getattr(it, "upper", math.inf)
        low = low if math.isfinite(low) else 0
        pair, question = (low, min(low + it.sensitivity, high)), "two numbers, sensitivity apart"
    privacy = one_release(it.epsilon, it.delta, f"{name}.epsilon and .delta")
    note = f"read: no claim names the law of {name}"
    draft = draft_any("what it is given, at random", note, privacy, pair, question)
    if name in _MAX:  # its input stands in the object
        return Said(
            draft, where="a function that makes the mechanism for the utilities it is given"
        )
    return Said(
        draft,
        ["def aggregate(data, size):", "    return [it.randomise(data) for _ in range(size)]"],
    )
