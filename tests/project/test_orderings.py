"""Orderings of Chadha et al. 2024: what counts as one, and which figures are compared."""

from importlib import import_module

import pytest

orderings = import_module("benchmarks.orderings")


@pytest.mark.parametrize(
    ("rule", "costs", "holds"),
    [
        ("rises", (1.0, 2.0, 3.0), True),
        ("rises", (1.0, 2.0, 2.0), False),
        ("rises_from_the_first", (0.3, 1.0, 1.0), True),
        ("rises_from_the_first", (1.0, 1.0, 2.0), False),
        ("rises_from_the_first", (0.3, 1.0, 0.9), False),
        ("is_least", (1.0, 3.0, 2.0), True),
        ("is_least", (2.0, 3.0, 1.0), False),
        ("is_below_half", (1.0, 2.1, 9.0), True),
        ("is_below_half", (14.0, 14.1, 14.8), False),  # PromptPATE on digits, order 20
    ],
)
def test_a_rule_holds_or_not(rule, costs, holds) -> None:
    assert getattr(orderings, rule)(costs) is holds


def test_mechanisms_are_compared_by_shares() -> None:
    """Made so that nats and shares disagree: CaPC leaks most, PromptPATE all that it can."""
    costs = {"pate": (1.0, 10.0), "capc": (8.0, 10.0), "prompt-pate": (2.0, 2.0)}
    found = {
        ("digits", name, adversary, "test"): {
            "orders": [2.0, 20.0],
            "exact": [exact] * 2,
            "changed": [changed] * 2,
        }
        for name, (exact, changed) in costs.items()
        for adversary in ("nat-miaq", "pois-miaq", "pois-minq")
    }
    assert orderings.counted(found, [2.0, 20.0]) == (6, 6, [])
    shares = orderings.costs_of(found, "digits", orderings.SHARES[0], 20.0)
    assert shares == pytest.approx([0.1, 0.8, 1.0])
    nats = next(o for o in orderings.NATS if o.words.startswith("Pois-MINQ: PATE, CaPC"))
    assert not nats.rule(orderings.costs_of(found, "digits", nats, 2.0))
