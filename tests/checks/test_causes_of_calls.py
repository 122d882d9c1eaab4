"""What explains a failure by how labels came: drawn once per call, or on one kind of histogram."""

from types import SimpleNamespace

import numpy as np
import pytest
from plans import GNMAX

from dpassay.verifiers.kinds.labels.checks.fitted import fit_kind
from dpassay.verifiers.kinds.labels.checks.of_one_histogram import OnceACall
from dpassay.verifiers.kinds.labels.planning.faults import scale_fault
from dpassay.verifiers.kinds.labels.planning.laws import ScaledNoise, fault_laws
from dpassay.verifiers.kinds.reading import parse_claim

LAW = np.array([0.4, 0.3, 0.1, 0.2])  # the last outcome is a refusal
CALLS, SIZE = 100, 32


def seen(counts, *, refuses=True):
    """What calls with these counts (calls, o) say."""
    once = OnceACall(np.log(LAW)[None], refuses=refuses)
    for of_call in counts:
        once.observe(0, of_call.astype(float))
    return once


@pytest.mark.parametrize("seed", range(3))
def test_independent_labels_speak_against_anything_drawn_once(seed) -> None:
    """Catches ratios that are divided wrongly: each is below zero, by Markov's inequality.

    Null: independent labels. Each of 9 concentrations has an expected ratio of 1, so that one ever
    exceeds e^20 with probability 9 e^-20, 2e-8; so does the screening.
    """
    once = seen(np.random.default_rng(seed).multinomial(SIZE, LAW, CALLS))
    assert once.own_law < 20.0
    assert once.screened < 20.0


def test_a_law_for_each_call_is_seen() -> None:
    """Calls of 32 with a Dirichlet law of concentration 8: overdispersed by a factor of 4.4."""
    rng = np.random.default_rng(0)
    laws = rng.dirichlet(8.0 * LAW, CALLS)
    once = seen(np.array([rng.multinomial(SIZE, law) for law in laws]))
    assert once.own_law > max(once.screened, 0.0) + 100.0


def test_one_screening_a_call_is_seen() -> None:
    """A fifth of the calls is refused: 100 calls of 32 would be so by chance with 0.2^(32 * 20)."""
    rng = np.random.default_rng(0)
    answered = rng.multinomial(SIZE, [*(LAW[:3] / 0.8), 0.0], CALLS)
    answered[:20] = [0, 0, 0, SIZE]
    once = seen(answered)
    assert once.screened > 0.0
    assert once.screened > once.own_law + 20.0
    assert seen(answered, refuses=False).screened == 0.0


def test_calls_for_one_label_say_nothing() -> None:
    once = seen(np.eye(4))
    assert once.own_law == once.screened == 0.0


SCALES = {0.5: "half the claimed scale", 0.8: "0.8 of the claimed scale"}


def stand_in(votes):
    """What `fit_kind` reads of a plan that asks these histograms (s, c); a plan takes long."""
    claim = parse_claim({"mechanism": GNMAX})
    mechanism = claim.mechanism
    faults = [scale_fault(mechanism, ScaledNoise.VOTES, *scale) for scale in SCALES.items()]
    log_q = mechanism.mechanism().log_probabilities(votes)
    streams = [SimpleNamespace(histogram=tuple(row)) for row in votes.tolist()]
    ratios = fault_laws(faults, log_q, votes) - log_q[:, None]
    return SimpleNamespace(claim=claim, faults=faults, streams=streams, log_q=log_q, ratios=ratios)


def test_the_size_of_the_support_is_found() -> None:
    """Labels are as many as half the scale is expected to give, on supports of three alone."""
    votes = np.zeros((6, 10))
    for row, k in enumerate((2, 2, 3, 3, 4, 5)):
        votes[row, :k] = (250 - 40) // k
        votes[row, row] += 250 - votes[row].sum()
    plan, three = stand_in(votes), (votes > 0).sum(-1) == 3
    law = np.exp(plan.log_q + np.where(three[:, None], plan.ratios[:, 0], 0.0))
    counts = 2000.0 * law / law.sum(-1, keepdims=True)
    found = fit_kind(plan, counts, np.einsum("so,sao->sa", counts, plan.ratios))
    assert found.stands_for == 0
    assert found.fault.note.code == "scale-too-small"
    assert dict(found.fault.note.fields) == {"factor": 0.5, "voted_for": 3}
    assert (found.each[~three] == 0.0).all()


def test_no_kind_is_found_where_one_alone_was_asked() -> None:
    votes = np.full((2, 10), 25.0)
    plan, counts = stand_in(votes), np.array([np.full(10, 10.0), np.zeros(10)])
    assert fit_kind(plan, counts, np.ones((2, 2))) is None
