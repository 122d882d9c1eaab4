"""Which numbers of a reply tell the inputs of a pair apart."""

from typing import Any

import numpy as np
import pytest

from dpassay.attacks.auditing.coin import Guarantee
from dpassay.verifiers.kinds.lawless.pair_audit import PairAudit
from dpassay.verifiers.kinds.lawless.pairs import Pair
from dpassay.verifiers.kinds.lawless.telling import told_by

CLAIMED, REFUTES, DRAWS = Guarantee(1.0, 1e-6), 14.0, 3_000


def seen(reply: Any, draws: int = DRAWS) -> PairAudit:
    """The draws of a pair; reply: of which input it is and a generator."""
    rng = np.random.default_rng(5)
    coins = rng.random(draws) < 0.5
    audit = PairAudit([CLAIMED], Pair(here=1, there=2), None)
    audit.observe([reply(int(coin), rng) for coin in coins], coins)
    return audit


def twice(coin: int, rng: Any) -> Any:
    return {"a": {"n": coin + rng.laplace()}, "b": [coin + rng.laplace()], "c": rng.laplace()}


def exact(coin: int, rng: Any) -> Any:
    return {"n": coin + rng.laplace(), "debug": {"seen": 7 + coin}}


def tight(coin: int, rng: Any) -> Any:
    return {"n": coin + rng.laplace(scale=0.3), "m": rng.laplace()}


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("reply", "words", "never"),
    [
        (twice, ("`a.n`", "`b[0]`", "none of which refutes the claim alone"), "`c`"),
        (exact, ("`debug.seen`, which is 7 in all replies to `here` and 8 to `there`",), "`n`"),
        (tight, ("`n`, by itself",), "`m`"),
    ],
)
def test_the_numbers_that_tell_are_named(reply: Any, words: tuple[str, ...], never: str) -> None:
    """Catches a number named that has nothing of the input, and one left out that has."""
    by = told_by(seen(reply), CLAIMED, REFUTES)
    assert by is not None
    assert all(word in by for word in words)
    assert never not in by


def test_of_many_numbers_few_are_named_and_the_rest_counted() -> None:
    """Catches a list of all pairs of words of a text, and one that ends as if it were whole."""

    def in_order(coin: int, _: Any) -> Any:
        return {"text": "a b c d e f g"[:: 1 if coin else -1]}

    by = told_by(seen(in_order, 100), CLAIMED, REFUTES)
    assert by is not None
    assert by.count(" of `text`") == 3
    assert "and 9 more, by each of them alone" in by  # of six pairs of words in either order


def test_where_nothing_tells_nothing_is_named() -> None:
    assert told_by(seen(lambda _, rng: {"n": rng.laplace()}, 200), CLAIMED, REFUTES) is None
