"""Reports of real runs, one of each kind, made once."""

import numpy as np
import pytest

from dpassay.verifiers.claim import parse_claim
from dpassay.verifiers.gate import verify
from dpassay.verifiers.targets import InProcessTarget

HOSTILE = "<script>alert(1)</script> ]]> \"quoted\" 'and' &amp; [red]\x1b[31m\u202e\ud800\x00"


def small_claim(name="gnmax", **tables):
    """Coarse enough for a pass within a few thousand queries."""
    mechanism = {"name": name, "noise": "gaussian:10", "classes": 4, "teachers": 40}
    if name == "confident-gnmax":
        mechanism |= {"threshold": 15.0, "threshold_noise": "gaussian:10"}
    gate = {"tolerance": 0.2, "smallest_effect": 0.1, "false_alarm": 1e-3}
    gate |= tables.pop("gate", {})
    return parse_claim({"mechanism": mechanism, "gate": gate, **tables})


def drawing(claim, scale=1.0, stop_at=None, error=None):
    """The claimed mechanism at `scale` times its noise; raises `error` at the call `stop_at`."""
    noise, rng, calls = claim.mechanism.noise.times(scale), np.random.default_rng(0), [0]
    mechanism = claim.mechanism.mechanism(noise)

    def aggregate(histogram, size):
        calls[0] += 1
        if calls[0] == stop_at:
            raise error
        return mechanism.sample(histogram, size, rng)

    return InProcessTarget(aggregate)


@pytest.fixture(scope="session")
def reports():
    """By kind; the message of `error` is hostile, `costly` fails by its privacy claim alone."""

    def run(claim, **how):
        return verify(drawing(claim, **how), claim, seed=0, reproduce="dpassay verify a.py:b")

    plain = small_claim()
    short = {"max_queries": 1000}  # a whole run takes seconds
    privacy = {"epsilon": 0.5, "delta": 1e-5, "queries": 100}
    return {
        "pass": run(plain),
        "fail": run(plain, scale=0.5),
        "far": run(plain, scale=30.0),
        "error": run(plain, stop_at=20, error=RuntimeError(HOSTILE)),
        "inconclusive": run(small_claim(gate={"max_queries": 300})),
        "interrupted": run(plain, stop_at=20, error=KeyboardInterrupt()),
        "refusing": run(small_claim("confident-gnmax", gate=short)),
        "costly": run(small_claim(privacy=privacy, gate=short)),
    }
