"""What is said of a deployment without a law, of made-up draws: each sentence once."""

import tomllib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpassay.attacks.auditing.coin import Guarantee
from dpassay.verifiers.kinds.lawless.privacy_audit import LawlessPrivacyAudit
from dpassay.verifiers.kinds.reading import parse_claim

TEXT = """
[mechanism]
name = "any"
[privacy]
epsilon = 1.0
delta = 1e-6
[[pairs]]
here = 1
there = 2
name = {name}
"""


def made(name: str | None) -> Any:
    """A check that has seen 500 draws of its one pair, which refute epsilon up to 1.5."""
    text = TEXT.replace("name = {name}\n", "" if name is None else f'name = "{name}"\n')
    check: Any = LawlessPrivacyAudit(parse_claim(tomllib.loads(text)), 1)
    check.queries = 500
    check.each = [
        SimpleNamespace(
            coins=np.zeros(500, dtype=bool),
            features=None,
            pair=check.pairs[0],
            log_e_value=30.0,
            guarantees=[Guarantee(1.0, 1e-6)],
            log_e_values=np.array([30.0]),
            least_epsilon=lambda _delta, _error: 1.5,
            evidence=lambda epsilons, _delta: [30.0] * len(epsilons),
        )
    ]
    return check


@pytest.mark.parametrize(
    ("name", "called"), [(None, "pair 1"), ("small and large", "the pair 'small and large'")]
)
def test_a_failure(name, called) -> None:
    found = made(name).fail_finding()
    assert found.code == "inputs-told-apart"
    assert found.fields == {
        "pair": 1,
        "name": name,
        "draws": 500,
        "epsilon": 1.0,
        "delta": 1e-6,
        "refuted_epsilon": 1.5,
    }
    assert found.message == (
        f"replies tell the inputs of {called} apart: 500 draws refute epsilon 1 at delta 1e-06, "
        "and at 95% every epsilon up to 1.5"
    )
    assert found.diagnosis == f"the outputs of {called} differ more than the claim allows"


def test_a_pass() -> None:
    found = made(None).pass_finding()
    assert found.code is None
    assert found.message == (
        "500 draws do not contradict the claim; at 95% and delta 1e-06 they refute every epsilon "
        "up to: pair 1 1.5; whatever lies between that and the claim was not seen, and no law was "
        "tested"
    )


def test_nothing_learned() -> None:
    check = made(None)
    check.each = [
        SimpleNamespace(
            coins=np.zeros(500, dtype=bool),
            odds=None,
            features=None,
            looked_at=(".seed", "the reply"),
            guarantees=[Guarantee(1.0, 1e-6)],
        )
    ]
    check.conclude_control()
    assert check.unlearned.message == (
        "nothing was learnt: 500 draws do not tell apart the inputs of any pair, so that no fault "
        "would have shown; nothing could be made of .seed, the reply: name two inputs far apart in "
        "[[control]], or a predictor in [mechanism] (docs/how-to/without-a-law.md)"
    )
    assert check.unlearned.fields == {"draws": 500, "parts": ".seed, the reply", "far": False}
