"""What the benchmarks of numbers compare with: limits by formulas, names that the zoo has."""

import math
import tomllib
from argparse import Namespace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.kinds.reading import parse_claim

# from the repository's root, which is not on the path of what types are checked by
detection = import_module("benchmarks.detection.numbers")
field = import_module("benchmarks.field.__main__")
rates = import_module("benchmarks.error_rate.numbers")
shelves = import_module("benchmarks.zoo.numbers")
means = import_module("benchmarks.peers.mean_mechanisms")


@pytest.mark.parametrize("factor", [0.5, 0.9, 2.0])
@pytest.mark.slow("over half a second")
def test_divergence_of_a_scale_by_its_formula(factor: float) -> None:
    """Catches the other direction of the divergence, which differs by a third and more."""
    for text, exact in [
        ("laplace:2", factor - 1.0 - math.log(factor)),
        ("gaussian:3", 0.5 * (factor**2 - 1.0) - math.log(factor)),
    ]:
        noise = parse_number_noise(text)
        assert detection.divergence(noise.times(factor), 0.0, noise) == pytest.approx(
            exact, rel=1e-4
        )


@pytest.mark.slow("over half a second")
def test_divergence_of_an_offset_by_its_formula() -> None:
    noise = parse_number_noise("laplace:2")
    exact = 0.1 + math.exp(-0.1) - 1.0
    assert detection.divergence(noise, 0.2, noise) == pytest.approx(exact, rel=1e-4)
    noise = parse_number_noise("gaussian:3")
    assert detection.divergence(noise, 0.3, noise) == pytest.approx(0.005, rel=1e-4)


def test_limits_of_what_releases_prove() -> None:
    """A whole cell without noise is as likely as the law's mode; else the limit is nothing."""
    (place,) = (n for n, f in enumerate(detection.FAULTS) if f.name.startswith("one cell"))
    mode = math.log(math.tanh(0.25))  # of discrete Laplace noise of scale 2
    assert detection.limit(place, "discrete-laplace:2") == pytest.approx(math.log(1e6) / -mode)
    assert detection.limit(place, "laplace:2") == 0.0


def test_names_are_those_of_the_zoo() -> None:
    assert set(shelves.ENTRIES) >= shelves.TOLD_BY_ONE


def test_every_mechanism_of_the_error_rates_answers() -> None:
    for text in rates.MECHANISMS:
        claim = rates.claim_of(text, None, 1e-6)
        if claim.mechanism.takes == "counts":
            counts = np.arange(claim.mechanism.width)
            released = rates.correct(claim, 1)(counts, 3)
            assert np.shape(released) == (3, claim.mechanism.width)
    assert len({rates.claim_of(text, None, 1e-6).summary for text in rates.MECHANISMS}) == len(
        rates.MECHANISMS
    )


def test_a_row_of_error_rates_counts_failures_alone() -> None:
    found = [("fail", "location, noise-law"), ("inconclusive", ""), ("pass", "")]
    told = import_module("benchmarks.error_rate.__main__").row("some runs", found)
    assert "| 3 of some runs | 1 | 0.3333 (" in told
    assert "location 1, noise-law 1 | 1 |" in told


def test_a_negative_count_leaves_no_noise() -> None:
    """As the library has it: about every second release of [0] is 0."""
    draw = means.UNFLOORED["DPLaplace"]
    bare = np.abs(draw(means.PAIR[0], 0.1, 4_000, np.random.default_rng(1))) < 1e-9
    assert 0.4 < bare.mean() < 0.6


def test_every_row_of_the_field_has_its_script_claim_and_environment() -> None:
    assert len({row.name for row in field.ROWS}) == len(field.ROWS)
    for row in field.ROWS:
        assert (field.CALLS / row.script.split()[0]).is_file(), row.name
        assert row.environment in field.ENVIRONMENTS, row.name
        parse_claim(tomllib.loads(row.claim_file.read_text()))


@pytest.mark.parametrize("large", [False, True])
def test_a_gigabyte_is_installed_only_when_asked_for(
    large: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """Catches a row that is judged without its environment, and one that is dropped unsaid."""
    environment = field.ENVIRONMENTS["tmlt-core-0.20.0"]
    installed = []
    module = import_module("benchmarks.field.environments")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(module.Environment, "make", lambda each: installed.append(each.name))
    rows, missing = field.made(Namespace(only="tmlt", large=large, page="field"))
    assert environment.large
    assert installed == ([environment.name] if large else [])
    assert bool(rows) == large
    assert [environment.name in why for why in missing] == ([] if large else [True])
