"""Mechanisms by the names and words with which claims and commands describe them."""

from typing import Final

from .mechanisms import ClaimedMechanism, ConfidentGNMax, NoisyArgmax, SampledArgmax
from .noise import Gaussian, Laplace, Noise, Rounded
from .sampling import Sampling

MOST_VOTES: Final = 1e9
"""No threshold is further from 0."""

NOISE_OF: Final[dict[str, type[Noise]]] = {
    "gnmax": Gaussian,
    "confident-gnmax": Gaussian,
    "lnmax": Laplace,
}
"""The only noise of the mechanisms whose names say it; the others take any."""


def needed_noise(name: str | None, noise: Noise) -> str | None:
    """The family that the mechanism of this name takes, where the noise is of another one."""
    needed = NOISE_OF.get(name or "")
    return None if needed is None or isinstance(noise.unrounded, needed) else needed.family


def described_mechanism(
    noise: Noise,
    threshold: float | None,
    threshold_noise: Noise | None,
    sampling: Sampling | None = None,
) -> ClaimedMechanism:
    """Confident-GNMax where there are a threshold and its noise, else the plain noisy argmax.

    noise: of the votes; threshold: in votes; sampling: of the teachers, None where all vote. Raises
    ValueError for one of threshold and its noise without the other, for a threshold with noise that
    is not Gaussian, and for sampling with either.
    """
    if sampling is not None:
        if not isinstance(noise, Gaussian) or threshold is not None or threshold_noise is not None:
            raise ValueError(f"sampling {sampling}: expected gaussian noise and no threshold")
        return SampledArgmax(noise, sampling)
    if threshold is None and threshold_noise is None:
        return NoisyArgmax(noise)
    if threshold is None or threshold_noise is None:
        raise ValueError("a threshold and its noise belong together: give both or neither")
    if not isinstance(noise, Gaussian | Rounded) or needed_noise("confident-gnmax", noise):
        raise ValueError(f"threshold with {noise}: expected gaussian noise")
    if not isinstance(threshold_noise, Gaussian):
        raise ValueError(f"threshold with {noise} and {threshold_noise}: expected gaussian noise")
    return ConfidentGNMax(noise, threshold, threshold_noise)
