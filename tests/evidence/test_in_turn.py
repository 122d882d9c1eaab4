"""Labels of two histograms asked in turn, and of long blocks: fair wagers that see."""

import math
from functools import cache
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from small import drawing, small_claim

from dpassay.verifiers.evidence import dispersion as module
from dpassay.verifiers.evidence.dependence import InTurn
from dpassay.verifiers.evidence.dispersion import BlockDispersion
from dpassay.verifiers.evidence.outcomes import count_outcomes, log_supremum_ratio
from dpassay.verifiers.kinds.labels.checks import LabelsFreshNoise
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select

LAWS = [(0.5, 0.5), (0.9, 0.1), (0.25, 0.75)]
CLAIMED = np.log(np.array([(0.6, 0.4), (0.3, 0.7)]))


@pytest.mark.parametrize("first", LAWS)
@pytest.mark.parametrize("second", LAWS)
def test_labels_in_turn_are_fair_under_any_two_laws(first, second) -> None:
    """Enumerated: three labels of each histogram, independent of each other."""
    total = 0.0
    for labels in product(range(2), repeat=6):
        x, y = np.array(labels[:3]), np.array(labels[3:])
        chance = math.prod(first[a] * second[b] for a, b in zip(x, y, strict=True))
        evidence = InTurn(CLAIMED)
        evidence.observe(x[:2], y[:2])
        evidence.observe(x[2:], y[2:])
        total += chance * math.exp(evidence.log_e_value)
    assert total <= 1.0 + 1e-9


def test_without_the_supremum_labels_in_turn_have_a_ratio_of_laws() -> None:
    """Its expectation is 1 under the claim: catches a division by less than the whole supremum."""
    total = 0.0
    for labels in product(range(2), repeat=6):
        x, y = np.array(labels[:3]), np.array(labels[3:])
        evidence = InTurn(CLAIMED)
        evidence.observe(x, y)
        # the first label of all follows none
        misfit = sum(
            log_supremum_ratio(count_outcomes(n, 2), q)
            for n, q in zip((x[1:], y), CLAIMED, strict=True)
        )
        chance = CLAIMED[0][x].sum() + CLAIMED[1][y].sum()
        total += math.exp(chance + evidence.log_e_value + misfit)
    assert math.isclose(total, 1.0, rel_tol=1e-9)


def test_an_answer_that_follows_the_one_before_shows() -> None:
    """Power: the label before plus 3 of 10, as noise shifted by three classes gives it."""
    rng = np.random.default_rng(0)
    even = np.full((2, 10), -np.log(10.0))
    x = rng.integers(10, size=128)
    for y, seen in (((x + 3) % 10, True), (rng.integers(10, size=128), False)):
        evidence = InTurn(even)
        evidence.observe(x, y)
        assert (evidence.log_e_value > 40.0) is seen


@cache  # the evidence knows the labels and not their law: one enumeration for all of them
def in_blocks(blocks, labels, batch):
    """The logarithm of what labels give that come so many at a time, in blocks of these sizes."""
    with patch.object(module, "BLOCKS", blocks):
        evidence = BlockDispersion(0.5)
        for start in range(0, len(labels), batch):
            evidence.observe(np.array(labels[start : start + batch]))
        return evidence.log_e_value


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("true", [0.02, 0.3, 0.5, 0.9])
def test_blocks_are_fair_under_any_probability(true) -> None:
    """Enumerated: all orders of twelve labels, in blocks of eight and of nine and a rest."""
    total = 0.0
    for labels in product((False, True), repeat=12):
        inside, log_e = sum(labels), in_blocks((8, 9), labels, 7)
        total += true**inside * (1 - true) ** (12 - inside) * math.exp(log_e)
    assert total <= 1.0 + 1e-9


@pytest.mark.parametrize("size", [1024, 4096])
def test_draws_spread_over_many_calls_show(size) -> None:
    """Power: a count that is fixed over blocks of this size, in 40,000 labels; fair ones do not.

    Null: fair labels reach 16 with probability e^-16 at most.
    """
    rng = np.random.default_rng(1)
    blocks = [rng.permutation(np.arange(size) < 0.42 * size) for _ in range(40_000 // size)]
    for inside, seen in ((np.concatenate(blocks), True), (rng.random(40_000) < 0.42, False)):
        evidence = BlockDispersion(0.42)
        for part in np.array_split(inside, 37):
            evidence.observe(part)
        assert (evidence.log_e_value > 16.0) is seen
        assert not seen or evidence.heaviest[0] in (size, 2 * size)


def test_blocks_begin_with_the_first_label(monkeypatch) -> None:
    """Counts of whole blocks, whatever the batches: by hand."""
    seen = []
    monkeypatch.setattr(
        module.Dispersion, "observe", lambda self, in_set, size: seen.append((in_set, size))
    )
    monkeypatch.setattr(module, "BLOCKS", (10,))
    inside = np.random.default_rng(2).random(47) < 0.5
    evidence = BlockDispersion(0.5)
    for part in np.split(inside, [3, 4, 30, 45]):
        evidence.observe(part)
    assert seen == [(int(inside[i : i + 10].sum()), 10) for i in (0, 10, 20, 30)]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("blocks", [(8,), (9,)])
@pytest.mark.parametrize("true", [0.02, 0.42, 0.5, 0.9])
def test_no_rule_of_stopping_gains_on_blocks(blocks, true) -> None:
    """The best rule, label by label, by backward induction; 1.09 where open blocks went uncharged.

    An average of e-processes is one only if each is, at every label: one that stands still while
    its block is open lets a rule stop before the loss.
    """

    def best(labels):
        # not to begin is no rule
        now = math.exp(in_blocks(blocks, labels, 1)) if labels else 0.0
        if len(labels) == 10:
            return now
        return max(now, true * best((*labels, True)) + (1 - true) * best((*labels, False)))

    assert best(()) <= 1.0 + 1e-9


@pytest.mark.slow("over half a second")
def test_no_look_is_taken_while_labels_drawn_in_turn_are_still_to_come(monkeypatch) -> None:
    """At every look all parts have seen the same labels, and the pairs have the weights they had.

    A part that is charged late, or a mean over the pairs asked so far, is no e-process.
    """
    seen = []
    look = LabelsFreshNoise._look

    def spied(self):
        for pair, evidence in zip(self.plan.pairs, self._in_turn.values(), strict=True):
            charged = evidence.counts.sum((1, 2))  # labels before which the other's came
            shown = self._alike.counts[list(pair.streams)].sum(-1)
            seen.append(tuple(shown - charged))
        look(self)

    monkeypatch.setattr(LabelsFreshNoise, "_look", spied)
    verify(
        drawing(small_claim()), small_claim(), seed=0, selection=select(["fresh-noise"], of=SHARES)
    )
    # the very first label of a pair follows none
    assert set(seen) == {(0, 0), (1, 0)}
