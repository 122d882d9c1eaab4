"""Extraction: strings come by rising log-perplexity, and the guess is the rank."""

import numpy as np
import pytest

from dpassay.attacks.memorisation import Template, exposures, guesses, likeliest

TEMPLATE = Template.parse("pin [0-4]{2} of [a-c]!")
COSTS = np.random.default_rng(0).gamma(2.0, size=128)


def adding(asked):
    """Each character costs something, by its own kind and the one before."""
    pairs = [zip(" " + each, each, strict=False) for each in asked]
    return [sum(COSTS[(7 * ord(a) + ord(b)) % 128] for a, b in each) for each in pairs]


def test_every_string_comes_once_the_likeliest_first() -> None:
    """Against a sort of the whole space. Catches a search that is greedy."""
    everything = TEMPLATE.strings(TEMPLATE.slice(0, TEMPLATE.size))
    scores = dict(zip(everything, adding(everything), strict=True))
    found = list(likeliest(adding, TEMPLATE, 10_000))
    assert sorted(found) == sorted(everything)
    assert [scores[each] for each in found] == pytest.approx(sorted(scores.values()))


def test_the_guess_is_the_rank_that_exposure_has() -> None:
    everything = TEMPLATE.strings(TEMPLATE.slice(0, TEMPLATE.size))
    for canary, found in zip(
        everything, exposures(adding, TEMPLATE, everything, 1_000), strict=True
    ):
        rank = round(2.0 ** (found.bits - found.value))
        guess = guesses(adding, TEMPLATE, canary, 10_000)
        ties = adding(everything).count(found.score)  # their order among themselves is free
        assert rank - ties < guess <= rank


def test_a_search_ends_where_its_beginnings_are_spent() -> None:
    assert guesses(adding, TEMPLATE, "pin 00 of a!", 4) is None
    asked = []

    def counting(strings):
        asked.extend(strings)
        return adding(strings)

    list(likeliest(counting, TEMPLATE, 40))
    assert 0 < len(asked) <= 40


def test_scores_that_do_not_add_up_are_refused() -> None:
    """A mean over characters, as perplexity is often told, falls where it should rise."""
    with pytest.raises(ValueError, match=r"lower.*; log-perplexities add"):
        list(likeliest(lambda asked: [9.0 - len(each) for each in asked], TEMPLATE, 1_000))
