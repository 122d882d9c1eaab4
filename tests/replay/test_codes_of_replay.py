"""Why a target's noise could not be frozen, or its draws not followed: each reason by its code."""

from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.replay.frozen import Ran
from dpassay.verifiers.replay.pairs import unfrozen
from dpassay.verifiers.replay.proof import answers_of
from dpassay.verifiers.replay.replayed import replay_pairs
from dpassay.verifiers.replay.search import Found
from dpassay.verifiers.replay.steps import LineTrace
from dpassay.verifiers.replay.tape import Draw, DrawRequest


def ran(released, result=0.5, noise=True, modules=()):
    """A run with one draw."""
    draw = Draw("target.py:3", "numpy.random.laplace", DrawRequest({}, 0.0, 1.0, noise), result)
    return Ran(np.atleast_1d(released), (draw,), (), LineTrace(), modules)


class Target:
    """Releases what a function makes of its one draw; without a tape a draw of its own."""

    def __init__(self, makes):
        self.makes = makes

    def run(self, values, recorded=None):
        drawn = 0.25 if recorded is None else recorded[0].result
        return ran(self.makes(float(drawn)), drawn)


@pytest.mark.parametrize(
    ("again", "code"),
    [
        (ran(2.0, modules=("lib",)), "draws-unseen"),
        (ran(2.0), "runs-differ"),
        (ran(1.0), None),
    ],
)
def test_why_two_runs_differ(again, code) -> None:
    found = unfrozen(ran(1.0, modules=again.modules), again)
    assert (None if found is None else found.code) == code


def test_bits_say_nothing_of_a_law() -> None:
    bits = ran(1.0, result=np.uint8(7), noise=False)
    found: Any = answers_of(Target(lambda drawn: drawn), None, bits, some=True)
    assert found.code == "drawn-as-bits"


def test_a_release_that_does_not_follow_its_draw_is_told() -> None:
    """Its square does not double with the step."""
    first = ran(0.25, result=0.5)
    found: Any = answers_of(Target(lambda drawn: drawn**2), None, first, some=True)
    assert found.code == "draws-not-followed"


def test_a_release_that_follows_its_draw_has_answers() -> None:
    first = ran(1.0, result=0.5)
    found: Any = answers_of(Target(lambda drawn: 2.0 * drawn), None, first, some=True)
    assert found.variances == pytest.approx([4.0])


def test_where_no_pair_could_be_compared_that_is_the_reason(monkeypatch, tmp_path) -> None:
    """Without a word on why: catches an inconclusive verdict that has no code."""
    (tmp_path / "target.py").write_text("def counts(values, size):\n    return [values] * size\n")
    monkeypatch.chdir(tmp_path)
    nothing = Found(None, None, None, compared=0, skipped=2, draws=())
    monkeypatch.setattr("dpassay.verifiers.replay.replayed.search", lambda *_: nothing)
    claim = parse_claim(
        {
            "mechanism": {
                "name": "noisy-histogram",
                "noise": "laplace:2",
                "adjacency": "add-remove",
                "cells": 2,
            }
        }
    )
    seen = replay_pairs("target.py:counts", claim, 1, 2)
    assert (seen.verdict, seen.code, seen.fields) == ("inconclusive", "no-pair-compared", {})
