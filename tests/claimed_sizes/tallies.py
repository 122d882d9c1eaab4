"""Wrong rounds of a tally: its noise, its modulus, and what parties send."""

import hashlib
import math
from typing import Any

import numpy as np

from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.kinds.tally.checks.recovery import Recovery

from .laws import OtherLaw, Quantiles
from .numbers import Releases, alike, made_check, of_noise


def wrong(planned: Any, check: str, entry: Excluded, times: float, seed: int) -> Any:
    mechanism = planned.claim.mechanism
    releases = Releases(mechanism.aggregation.exact, mechanism.added.family)
    if check == "mask-uniformity":
        return _sent(planned, entry, times)
    if check == "wrap-around":
        return _shifted(planned, releases, entry, times, seed)
    if check == "recovery":
        return _after_dropouts(planned, releases, entry, times)
    made = of_noise(releases, entry, times)
    if made is None:
        return None

    def make(rng: np.random.Generator) -> Any:
        answer = made(rng)
        return lambda given, size: np.rint(answer(given, size)).astype(int).tolist()

    return make


def _shifted(planned: Any, releases: Releases, entry: Excluded, times: float, seed: int) -> Any:
    """The tally of one extreme input lies off."""
    check = made_check(planned, "wrap-around")
    where = entry.where[seed % len(entry.where)]
    extreme = next(asked.values for asked in check.inputs if asked.role == where)
    shift = math.ceil(times * float(entry.size["shift"])) * (-1) ** seed

    def make(rng: np.random.Generator) -> Any:
        fresh = releases.fresh(rng)

        def answer(given: Any, size: int) -> Any:
            exact = releases.exact(given) + shift * alike(given, extreme)
            return np.rint(exact + fresh(given, (size, exact.size))).astype(int).tolist()

        return answer

    return make


def _after_dropouts(planned: Any, releases: Releases, entry: Excluded, times: float) -> Any:
    """Noise of another law where parties have left."""
    check: Recovery = made_check(planned, "recovery")
    gone = [asked.values for asked in check.inputs if asked.role in entry.where]
    left = planned.claim.mechanism.left(int(entry.size["present"])).family
    size = times * float(entry.size["total_variation"])
    law = OtherLaw(left, size, int(entry.size["cells"]))

    def make(rng: np.random.Generator) -> Any:
        fresh = releases.fresh(rng)

        def answer(given: Any, size: int) -> Any:
            if any(alike(given[1], one.values[1]) for one in check.ways.below):
                raise ValueError("fewer than the quorum have sent")
            exact = releases.exact(given)
            shape = size, exact.size
            off = any(alike(given[1], one[1]) for one in gone)
            noise = law.sample(shape, rng) if off else fresh(given, shape)
            return np.rint(exact + noise).astype(int).tolist()

        return answer

    return make


def _sent(planned: Any, entry: Excluded, times: float) -> Any:
    """Rounds that show what parties send, with masks or keys that are not new each time."""
    mechanism, size = planned.claim.mechanism, entry.size
    parties, width, modulus = mechanism.parties, mechanism.width, mechanism.modulus
    states = max(1, round(float(size.get("states", 0)) / times))

    def make(rng: np.random.Generator) -> Any:
        quantiles, kept = Quantiles(mechanism.added.family), dict[str, Any]()

        def masks() -> Any:
            found = rng.integers(0, modulus, (parties, width))
            if entry.code == "mask-kept-across-rounds":
                one = kept.setdefault("mask", found)  # the first round's, and so the one's before
                found = one
            elif entry.code == "mask-shared-by-numbers":
                found = np.repeat(found[:, :1], width, axis=1)
            elif entry.code == "mask-shared-by-parties":
                found = np.repeat(found[:1], parties, axis=0)
            elif entry.code == "mask-missing":
                whose = size.get("party")
                found[:] = np.where(
                    (np.arange(parties) + 1 == whose)[:, None] | (whose is None), 0, found
                )
            return found

        def text(of: Any) -> str:
            return hashlib.sha256(str(of).encode()).hexdigest()

        def shown(given: Any) -> Any:
            values = np.asarray(given[0])
            exact = mechanism.aggregation.exact(given)
            noisy = exact + quantiles(rng.random(exact.size))
            found: dict[str, Any] = {
                "tally": np.rint(noisy).astype(int).tolist(),
                "sent": ((values + masks()) % modulus).tolist(),
            }
            if entry.code == "keys-repeat":
                found["keys"] = [text(int(rng.integers(states))) for _ in range(parties)]
            if entry.code == "ciphertexts-repeat":
                found["ciphertexts"] = [text((k, row)) for k, row in enumerate(values.tolist())]
            return found

        return lambda given, size: [shown(given) for _ in range(size)]

    return make
