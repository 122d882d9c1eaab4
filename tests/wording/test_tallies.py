"""What is said of tallies, of made-up checks: each sentence once, with its code."""

import math
import tomllib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cryptography", reason="needs the extra `tally`")

from tally_zoo.shelf import FIVE

from dpassay.verifiers.findings.finding import Finding
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tally.checks.mask_uniformity import MaskUniformity
from dpassay.verifiers.kinds.tally.checks.recovery import Recovery
from dpassay.verifiers.kinds.tally.checks.several_ways import SeveralWays
from dpassay.verifiers.kinds.tally.checks.wrap_around import WrapAround
from dpassay.verifiers.kinds.tally.evidence.alike import cells_of
from dpassay.verifiers.run.checks import Setting
from dpassay.verifiers.targets.tally import ShownRound

CLAIM: Any = parse_claim(tomllib.loads(f"[mechanism]\n{FIVE}"))


def made(check: type[Any]) -> Any:
    return check.make(Setting(CLAIM, 1, CLAIM.inputs(1)))


def said(found: Finding | None) -> tuple[Any, ...]:
    assert found is not None
    return found.code, dict(found.fields), found.message, found.diagnosis


@pytest.mark.parametrize(
    ("shown", "code", "fields", "diagnosis"),
    [
        ("all", "mask-missing", {}, "parties send values without a mask"),
        ("party 3", "mask-missing", {"party": 3}, "party 3 sends its values without a mask"),
        (
            "next",
            "mask-kept-across-rounds",
            {"of": "before"},
            "a party's masks are those of its round before",
        ),
        (
            "first",
            "mask-kept-across-rounds",
            {"of": "first"},
            "a party's masks are those of its first round",
        ),
        (
            "coordinates",
            "mask-shared-by-numbers",
            {"all": True},
            "a party's numbers share one mask",
        ),
        (
            "some coordinates",
            "mask-shared-by-numbers",
            {"all": False},
            "some of a party's numbers share their masks",
        ),
        ("parties", "mask-shared-by-parties", {"all": True}, "parties share their masks"),
        (
            "some parties",
            "mask-shared-by-parties",
            {"all": False},
            "some parties share their masks",
        ),
    ],
)
def test_of_masks(shown, code, fields, diagnosis) -> None:
    check = made(MaskUniformity)
    check.evidence = SimpleNamespace(
        likeliest=shown, modulus=4096, narrow=lambda _name, _noise: None
    )
    message = "what parties send is not uniform and independent modulo 4096: e-value 10^9.0"
    found = check._refuted(9.0 * math.log(10.0))
    assert said(found) == (code, fields, message, diagnosis)


def test_of_masks_that_fill_a_part_of_the_modulus() -> None:
    """Masks from 0 to 300 are no mask that is shared; one mask for all numbers is."""
    narrow, shared = (made(MaskUniformity) for _ in range(2))
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = np.zeros((6, 8), dtype=np.int64)
        narrow.evidence.observe(rng.integers(0, 300, values.shape), values)
        shared.evidence.observe(values + rng.integers(0, 4096, (6, 1)), values)
    found = narrow._refuted(20.0)
    assert found.code == "masks-too-narrow"
    assert found.diagnosis is not None
    assert found.diagnosis.startswith("masks do not fill the modulus: numbers that parties send")
    assert shared._refuted(20.0).code == "mask-shared-by-numbers"


def test_of_what_comes_again() -> None:
    """A key, and a ciphertext, of party 1 in the first round are those of party 2 in the second."""
    check, given = made(MaskUniformity), made(MaskUniformity).inputs[0]
    places = {"party": 2, "round": 2, "first_party": 1, "first_round": 1}
    assert check._look(given, seen(keys={1: "abc"})) is None
    assert said(check._look(given, seen(keys={2: "abc"}))) == (
        "keys-repeat",
        places,
        "key abc of party 1 in round 1 is that of party 2 in round 2: new keys are never alike",
        "keys come from a generator with few states",
    )
    assert check._look(given, seen(ciphertexts={1: ("abc",)})) is None
    assert said(check._look(given, seen(ciphertexts={2: ("abc",)}))) == (
        "ciphertexts-repeat",
        places,
        "ciphertext abc of party 1 in round 1 is that of party 2 in round 2: new ciphertexts are "
        "never alike",
        "the same values encrypt to the same ciphertext",
    )


def seen(**parts: Any) -> ShownRound:
    whole: dict[str, Any] = {"tally": (0,) * 16, "sent": {}, "keys": {}, "ciphertexts": {}}
    return ShownRound(**{**whole, "revealed": {}, **parts})


@pytest.mark.parametrize(("noise", "numbers"), [("sum=5", 8), ("shares=5/4", 16)])
def test_of_masks_of_a_run_that_were_not_seen_twice(noise: str, numbers: int) -> None:
    """Of five parties four are compared; where each adds noise, a mask may come again unseen.

    The probability: see test_a_mask_with_new_noise_is_seen_as_often_as_is_said.
    """
    claim: Any = parse_claim(tomllib.loads(f"[mechanism]\n{FIVE.replace('shares=5/4', noise)}"))
    check = MaskUniformity.make(Setting(claim, 1, claim.inputs(1)))
    rng = np.random.default_rng(1)
    for _ in range(3):
        rows = rng.integers(0, 4096, (5, 16)).tolist()
        check.among_all(check.inputs[0], [seen(sent={k + 1: row for k, row in enumerate(rows)})])
    chance = cells_of(claim.mechanism.left(2), 4096, 16)[1]
    again = "a mask that comes again with new noise would have been seen with probability"
    more = f", and {again} {chance:.2g}" if claim.mechanism.in_shares else ""
    assert check.said_of_rounds == (
        f"no mask of 3 rounds of the run was seen twice, by its first {numbers} numbers of up to 4 "
        f"parties: the last of those who send in a round was not compared{more}"
    )


def test_of_masks_that_are_not_shown() -> None:
    check = made(MaskUniformity)
    check.without = 3
    note = check._partial
    assert (note.code, note.fields) == ("not-shown", {"rounds": 3})
    assert note.message == (
        "in 3 rounds, in which all parties stay, `sent` is null of some: their masks were not "
        "looked at"
    )


@pytest.mark.parametrize(
    ("place", "shift", "code", "party", "message", "diagnosis"),
    [
        (
            0,
            -63.0,
            "modulus-too-small",
            None,
            "where all values are the largest, the tally lies about 63 below their sum",
            "the modulus, or a limit on the way, is too small for the largest values",
        ),
        (
            3,
            5.0,
            "party-values-cut",
            2,
            "where party 2 alone has the largest values, the tally lies about 5 above their sum",
            "values of party 2 are cut, or scaled otherwise",
        ),
    ],
)
def test_of_extreme_values(place, shift, code, party, message, diagnosis) -> None:
    check = made(WrapAround)
    check.evidence = SimpleNamespace(
        likeliest=(place, shift), log_e_value=30.0, is_anywhere=lambda _place: False
    )
    found = check._refuted()
    assert (found.code, found.message, found.diagnosis) == (code, message, diagnosis)
    assert (found.fields["shift"], found.fields.get("party")) == (shift, party)
    assert found.fields["input"] == check.inputs[place].role


def test_of_rounds_with_dropouts() -> None:
    """Both masks revealed, a tally far off, and noise of half its scale."""
    check, fields = made(Recovery), {"present": 4, "parties": 5}
    given = check.inputs[0]
    left = "to tallies of 4 of 5 parties the claim leaves discrete-laplace:2;shares=4/4, "
    left += "and they do not follow it"
    check.ask_or_refused = lambda _context, _given: seen(revealed={"self": (2,), "pair": (2, 3)})
    assert said(check._look(None, given)) == (
        "both-masks-revealed",
        {"party": 2, "input": given.role},
        f"the self mask and the pairwise keys of party 2 are both revealed where {given.role}: "
        "what it has sent can be read",
        "a party's self mask is revealed together with its pairwise ones",
    )
    check.ask_or_refused = lambda _context, _given: seen(tally=(2_000,) * 16)
    assert said(check._look(None, given)) == (
        "masks-not-cancelled",
        {**fields, "input": given.role},
        f"{left}: where {given.role}",
        "masks do not cancel once a party has left",
    )
    check, rng = made(Recovery), np.random.default_rng(1)
    found = None
    while found is None:
        tally = given.exact + np.round(rng.laplace(0.0, 1.0, 16))
        check.ask_or_refused = lambda _context, _given, t=tally: seen(tally=tuple(map(int, t)))
        found = check._look(None, given)
    assert found.code == "noise-after-dropouts-differs"
    assert {**found.fields, **fields} == found.fields
    assert found.fields["fault"] == "scale-too-small"
    assert found.fields["factor"] == pytest.approx(0.5, abs=0.11)
    assert found.message == left
    assert found.diagnosis.startswith("after dropouts: noise of ")


def test_of_rounds_of_several_ways() -> None:
    """A tally of too few, and sums that are off or anywhere, of 12 parties."""
    text = FIVE.replace("5/4", "12/8").replace("parties = 5", "parties = 12")
    text = text.replace("quorum = 4", "quorum = 8")
    claim: Any = parse_claim(tomllib.loads(f"[mechanism]\n{text}"))
    ways = SeveralWays(claim)
    role = "5 parties leave before their values"
    assert said(ways.tallied(ways.below[0])) == (
        "tally-below-quorum",
        {"present": 7, "quorum": 8, "input": role},
        "a round is tallied to which 7 of 12 parties have sent their values: where "
        f"{role}; by the claim 8 must stay",
        "the quorum is not counted once values were sent",
    )
    role = "1 party leaves before its values, 3 parties leave after their values"
    fields = {"present": 11, "parties": 12, "input": role}
    for anywhere, code, more, message, diagnosis in (
        (
            False,
            "dropouts-miscounted",
            {"shift": -30.0},
            f"where {role}, the tally lies about 30 below their sum",
            "where parties leave in several ways, others are counted than those who have sent",
        ),
        (
            True,
            "masks-not-cancelled",
            {},
            f"where {role}, tallies lie anywhere, and not about their sum",
            "masks do not cancel once a party has left",
        ),
    ):
        sums: Any = SimpleNamespace(likeliest=(0, -30.0), is_anywhere=lambda _, of=anywhere: of)
        ways.sums = sums
        assert said(ways.miscounted(30.0)) == (code, {**fields, **more}, message, diagnosis)


def test_of_refused_rounds() -> None:
    check = made(Recovery)
    check.refusals.append("a party leaves before keys: halted")
    (note,) = check._warnings
    assert (note.code, note.fields) == ("input-refused", {"fewest": 4, "parties": 5})
    assert note.message == (
        "a round with 4 of 5 parties or more is refused where a party leaves before keys: halted"
    )
    claim = parse_claim(tomllib.loads(f"[mechanism]\n{FIVE.replace('quorum = 4', 'quorum = 5')}"))
    reason = Recovery.not_applicable_to(claim)
    assert reason is not None
    assert reason.code == "not-claimed"
    assert reason.message == "all parties must stay by the claim: none may drop out"
