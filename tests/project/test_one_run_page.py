"""The page of one run of training, made of drawn results: its counts and its tables."""

import re
from importlib import import_module

import numpy as np
import pytest

audited = import_module("benchmarks.one_run.audited")
exact = import_module("benchmarks.one_run.exact")
limits = import_module("benchmarks.one_run.limits")
settings = import_module("benchmarks.one_run.settings")
simulated = import_module("benchmarks.one_run.simulated")
trainings = import_module("benchmarks.one_run.trainings")
write = import_module("benchmarks.one_run.page").page

FOREIGN = {"epsilon": 1.0, "curve": 2.0, "meta": 3.0}


def bare(part) -> list[dict[str, object]]:
    """Trainings of a part, of which the halved ones lay every canary bare, and right ones none."""
    _, _, noise, first, count = part
    coins = [settings.coins_of(settings.CANARIES, seed) for seed in range(first, first + count)]
    rng = np.random.default_rng(first)
    return [
        {
            "scores": (1.0 * each if noise == "half" else rng.random(each.size)).tolist(),
            "accuracy": 0.8,
            "seconds": 1.0,
        }
        for each in coins
    ]


def test_no_two_trainings_share_a_seed() -> None:
    seeds = [seed for *_, first, count in trainings.parts() for seed in range(first, first + count)]
    assert len(seeds) == len(set(seeds)) == 306


@pytest.mark.slow("over half a second")
def test_the_page_counts_what_was_refuted() -> None:
    parts = [(*part[:3], part[3], 1) for part in {p[:3]: p for p in trainings.parts()}.values()]
    kinds = audited.kinds([(part, bare(part)) for part in parts])
    limited = [((*case, size), [0, 90, 1]) for case in limits.CASES for size in limits.SIZES]
    own = [((*law, 0), [[9e9, 0.0, 0.0]] * 4) for law in simulated.LAWS]
    foreign = [((*law, 0), [FOREIGN] * 4) for law in simulated.LAWS]
    beside = [(part, [FOREIGN]) for part in parts]
    text = "\n".join(write(kinds, limited, own, foreign, beside))
    assert re.search(r"exceeds: \*\*0 of 6\*\*.*: \*\*0 of 6\*\*", text)
    assert "1 of 1 (opacus, whole)" in text
    truths = [simulated.truth(*law).epsilon for law in simulated.LAWS]
    exceeded = sum(bound > truth for bound in (9e9, *FOREIGN.values()) for truth in truths)
    assert text.count("4 of 4") == exceeded
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1, table
