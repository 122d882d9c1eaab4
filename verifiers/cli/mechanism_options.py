"""The mechanism that the options of a command describe."""

from ...reference import ConfidentGNMax, Gaussian, NoisyArgmax, parse_noise
from ...reference.mechanisms import ClaimedMechanism
from ..inputs.input_error import OptionsError
from ..kinds.labels.mechanism import MOST_VOTES, needed_noise

_SCREENED = "confident-gnmax"


def mechanism_of_options(
    noise: str, threshold: float | None, threshold_noise: str | None, name: str | None = None
) -> ClaimedMechanism:
    """The mechanism of `name`; without a name, the one that the other options imply.

    noise, threshold_noise: as typed, such as `gaussian:40`. Raises ValueError that names the option
    that does not fit the others.
    """
    votes = parse_noise(noise)
    needed = needed_noise(name, votes)
    if needed is not None:
        raise ValueError(f"--noise {noise}: {name} takes {needed} noise")
    given = [value for value in (threshold, threshold_noise) if value is not None]
    if given and name not in (None, _SCREENED):
        raise OptionsError(f"--threshold belongs to {_SCREENED}, not to {name}")
    if threshold is not None and not abs(threshold) <= MOST_VOTES:  # for a nan too
        raise ValueError(f"--threshold {threshold:g}: expected -1e9 to 1e9 votes")
    if name == _SCREENED and len(given) < 2:
        raise OptionsError(f"{_SCREENED} needs --threshold and --threshold-noise")
    if len(given) == 1:
        raise OptionsError(
            "--threshold and --threshold-noise belong together: give both or neither"
        )
    if threshold is None or threshold_noise is None:
        return NoisyArgmax(votes)
    screen = parse_noise(threshold_noise)
    if not isinstance(votes, Gaussian):
        raise ValueError(f"--noise {noise}: --threshold takes gaussian noise")
    if not isinstance(screen, Gaussian):
        raise ValueError(f"--threshold-noise {threshold_noise}: expected gaussian noise")
    return ConfidentGNMax(votes, threshold, screen)
