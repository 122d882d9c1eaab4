"""`dpassay reconstruct` on labels of another scale: told where they can tell, rarely wrong."""

import re
from itertools import product

import numpy as np
import pytest
from scipy.stats import multinomial
from typed import typed

from dpassay.attacks import Answers, reconstruct
from dpassay.reference import ConfidentGNMax, NoisyArgmax, parse_noise
from dpassay.verifiers.commands.other_scales import better_scale, log_odds_wanted, log_supremum

SHARP = [125, 100, 25, 0, 0, 0, 0, 0, 0, 0]
THRESHOLD = (150.0, parse_noise("gaussian:50"))


def mechanism(noise, threshold=()):
    family = parse_noise(noise)
    return ConfidentGNMax(family, *threshold) if threshold else NoisyArgmax(family)


def drawn(votes, drawing, attacked, queries=10_000):
    """Answers of one mechanism, read as those of another."""
    labels = drawing.sample(votes, queries, np.random.default_rng(5))
    return Answers.tally(labels, len(votes), attacked)


def found(votes, drawing, attacked):
    answers, teachers = drawn(votes, drawing, attacked), sum(votes)
    fit = reconstruct(answers, teachers)
    return better_scale(answers, teachers, float(fit.log_likelihood) + float(fit.gap))


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(
    ("teachers", "noise", "queries", "votes"),
    [
        (12, "gaussian:4", 325, (12, 0)),
        (12, "gaussian:4", 450, (12, 0)),
        (40, "laplace:10", 500, (40, 0)),
        (250, "gaussian:100", 100, (250, 0, 0)),
        (250, "gaussian:100", 60, (125, 125, 0)),
        (250, "exponential:90", 80, (250, 0, 0)),
        (12, "gumbel:6", 100, (4, 4, 4)),
    ],
)
def test_the_right_scale_is_rarely_suspected(teachers, noise, queries, votes) -> None:
    """Exactly, over all counts: less than 1 in 1,000, where votes are at their bounds most of all.

    Catches the 1e-3 quantile of the limit law: where five labels are expected, none come in more.
    """
    law = np.exp(mechanism(noise).log_probabilities(np.array(votes, dtype=float)))
    first = product(range(queries + 1), repeat=len(votes) - 1)
    counts = np.array([(*row, queries - sum(row)) for row in first if sum(row) <= queries])
    chances = multinomial.pmf(counts, queries, law / law.sum())
    kept = chances > 1e-12  # the others are too few to matter
    counts, chances = counts[kept], chances[kept]
    fits = reconstruct(Answers(counts.astype(float), mechanism(noise)), teachers)
    suspected = 0.0
    for row, chance, value, gap in zip(counts, chances, fits.log_likelihood, fits.gap, strict=True):
        answers = Answers(row.astype(float), mechanism(noise))
        if log_supremum(answers) - float(value + gap) >= log_odds_wanted(answers):
            suspected += float(chance)
    assert suspected < 1e-3


@pytest.mark.parametrize("given", ["gaussian:50", "gaussian:80"])
def test_too_large_a_scale_is_told_where_classes_are_empty(given) -> None:
    """The largest scale that fits is the true one: even votes of 0 leave too many labels else."""
    noise, odds = found(SHARP, mechanism("gaussian:40"), mechanism(given))
    assert noise.scale == pytest.approx(40.0, rel=0.1)
    assert noise.family == "gaussian"
    assert odds > 50.0


@pytest.mark.slow("over half a second")
def test_other_families_too() -> None:
    noise, _ = found(SHARP, mechanism("laplace:20"), mechanism("laplace:40"))
    assert (noise.family, round(noise.scale / 20.0, 1)) == ("laplace", 1.0)


@pytest.mark.parametrize(
    ("votes", "given"),
    [
        (SHARP, "gaussian:40"),
        (SHARP, "gaussian:20"),  # too small: some votes fit as well
        ([60, 50, 40, 30, 70], "gaussian:80"),  # too large, but no vote of the fit is at its bound
    ],
)
def test_what_labels_cannot_tell_is_not_told(votes, given) -> None:
    assert found(votes, mechanism("gaussian:40"), mechanism(given)) is None


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(("given", "told"), [(20, True), (40, False), (80, True)])
def test_refusals_tell_either_way(given, told) -> None:
    """They say in votes how far the leader is from the threshold. Catches a search below alone."""
    drawing = mechanism("gaussian:40", THRESHOLD)
    attacked = mechanism(f"gaussian:{given}", THRESHOLD)
    better = found([150, 60, 25, 15, 0], drawing, attacked)
    assert (better is not None) == told
    if better is not None:
        assert better[0].scale == pytest.approx(40.0, rel=0.05)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "method", ["mle", pytest.param("posterior", marks=pytest.mark.slow("another method"))]
)
def test_the_command_warns_whatever_the_method(method) -> None:
    answers = drawn(SHARP[:5], mechanism("gaussian:40"), mechanism("gaussian:40"))
    counts = ",".join(f"{n:.0f}" for n in answers.counts)
    options = ["--teachers", "250", "--method", method]
    wrong = typed("reconstruct", "--counts", counts, "--noise", "gaussian:80", *options)
    assert wrong.returncode == 0
    assert "250 teachers" in wrong.stderr
    assert "under gaussian:80," in wrong.stderr
    about = re.search(r"about gaussian:(\d+) .*10\^", wrong.stderr)
    assert float(about[1]) == pytest.approx(40.0, rel=0.1)
    right = typed("reconstruct", "--counts", counts, "--noise", "gaussian:40", *options)
    assert (right.returncode, right.stderr) == (0, "")
