"""What the rounds of a reply show: what is read, what is refused, and what is looked at."""

from collections import deque
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cryptography", reason="needs the extra `tally`")

from tally_zoo import CORRECT

from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.tally.registry import CHECKS
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget, open_target
from dpassay.verifiers.targets.replies import CallError
from dpassay.verifiers.targets.tally import TallyRelease
from dpassay.verifiers.targets.worker import _plain_releases

VALUES = [np.array([[1, 2], [3, 4]]), np.array([0, 0])]


@pytest.mark.parametrize(
    ("reply", "tally"),
    [
        ([[4, 6]], [4, 6]),
        ([{"tally": [99, 7]}], [-1, 7]),
        (np.array([[4, 96]]), [4, -4]),
        ([[53, 57]], [53, -43]),
    ],
)
def test_residues_are_read_as_the_numbers_nearest_to_the_sum(reply, tally) -> None:
    """Sums are 4 and 6 modulo 100: half the modulus above 6 is nearer below it."""
    release = TallyRelease(2, 2, 100, signed=False)
    assert release.shaped(reply, VALUES, 1).tolist() == [tally]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ([[4, 100]], "gave 100 in tally"),
        ([[4, -1]], "gave -1 in tally"),
        ([[4, 0.5]], "gave 0.5 in tally"),
        ([[4]], "as tally"),
        ([{"sent": []}], "expected its tally"),
        ([{"tally": [1, 2], "sent": [[1, 2]]}], "showed [[1, 2]]"),
        ([{"tally": [1, 2], "revealed": {"all": [1]}}], "expected self and pair"),
        ([{"tally": [1, 2], "revealed": {"self": 1}}], "revealed 1"),
        ([{"tally": [1, 2], "ciphertexts": ["ab", None]}], "of party 1"),
        (
            [{"tally": [1, 2], "revealed": {"pair": [0]}}],
            "revealed [0]: expected numbers of parties, counted from 1",
        ),
        ([{"tally": [1, 2], "ciphertexts": [None, 7]}], "gave 7 as ciphertexts"),
        ([{"tally": [1, 2], "ciphertexts": [None, []]}], "gave [] as ciphertexts"),
        ([{"tally": [1, 2], "keys": [None, {}]}], "as key of party 2"),
        ("abc", "returned abc"),
    ],
)
def test_a_reply_that_is_no_round_is_told(reply, said) -> None:
    with pytest.raises(CallError) as error:
        TallyRelease(2, 2, 100, signed=False).rounds(reply, VALUES, 1)
    assert error.value.code == "reply-malformed"
    assert said in str(error.value)


@pytest.mark.parametrize("travel", [_plain_releases, lambda reply: reply])
def test_bytes_that_may_be_written_to_are_read_as_bytes(travel) -> None:
    """Catches lists of their numbers."""
    shown: list[Any] = [bytearray(b"of party 1, long"), b"of party 2, long"]
    reply = travel([{"tally": [4, 6], "keys": shown, "ciphertexts": shown}])
    (found,) = TallyRelease(2, 2, 100, signed=False).rounds(reply, VALUES, 1)
    assert found.keys == {1: shown[0].hex(), 2: shown[1].hex()}
    assert found.ciphertexts == {1: (shown[0].hex(),), 2: (shown[1].hex(),)}


@pytest.mark.parametrize("tally", [{4, 6}, frozenset([4, 6]), deque([4, 6]), bytearray(2)])
def test_what_is_no_list_of_numbers_travels_as_none(tally) -> None:
    """A set has no order. Catches one that is sorted, in which numbers change places."""
    reply = _plain_releases([{"tally": tally}])
    with pytest.raises(CallError, match="as tally: expected 2 whole numbers"):
        TallyRelease(2, 2, 100, signed=False).rounds(reply, VALUES, 1)


def test_numbers_beyond_floats_keep_their_digits() -> None:
    """Modulo the prime of 64 bits a negative number is near 2^64: as a float it would be 0."""
    prime = 2**64 - 2**32 + 1
    release = TallyRelease(2, 2, prime, signed=False)
    assert release.shaped([[prime - 3, 5]], VALUES, 1).tolist() == [[-3, 5]]


def test_residues_under_a_signed_claim_are_told_the_key() -> None:
    release = TallyRelease(2, 2, 100, signed=True)
    with pytest.raises(CallError, match=r'50 .*-50 to 49, .*released = "residues"'):
        release.rounds([[50, 0]], VALUES, 1)


OBJECTS = """
class Encrypted:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return "<encrypted.Encrypted, of a library with a long name>"

def rounds(given, size):
    shown = [{shown} for party in range(2)]
    return [{{"tally": [4, 6], "{what}": shown}} for _ in range(size)]
"""


def travelled(tmp_path, what, shown) -> Any:
    (tmp_path / "target.py").write_text(OBJECTS.format(what=what, shown=shown))
    release = TallyRelease(2, 2, 100, signed=False)
    target = open_target(f"{tmp_path / 'target.py'}:rounds", 20.0, release=release)
    try:
        return release.rounds(target.ask_whole(VALUES, 1), VALUES, 1)[0]
    finally:
        target.close()


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(("what", "shown"), [("ciphertexts", "[{}, {}]"), ("keys", "{}")])
def test_bytes_are_read_whole_and_objects_refused(tmp_path, what, shown) -> None:
    """Bytes that begin alike, as of a library with a header, differ; objects have one text.

    Catches their first characters alone, by which correct ciphers would look used again.
    """
    begins = bytes(range(100))
    text = "bytes(range(100)) + b'%d' % party"
    seen = getattr(travelled(tmp_path, what, shown.format(text, "b'0123456789abcdef'")), what)
    parts = [(begins + b"%d" % party).hex() for party in range(2)]
    if what == "keys":
        assert [seen[1], seen[2]] == parts
    else:
        assert [seen[1][0], seen[2][0]] == parts
    with pytest.raises(CallError, match=r"Encrypted.*expected"):
        travelled(tmp_path, what, shown.format("Encrypted(party)", "Encrypted(party)"))


def shown_as(change, checks) -> Report:
    """A run of these checks on a correct tally of which each round is changed."""
    entry = next(entry for entry in CORRECT if entry.name == "noise-before-the-modulus")
    rounds, claim = entry.made(np.random.default_rng([1, 77])), entry.claim
    target = InProcessTarget(
        lambda values, size: [change(values, found) for found in rounds(values, size)],
        release=claim.release,
    )
    return verify(target, claim, seed=1, selection=select(checks, of=CHECKS.ids))


@pytest.mark.slow("a whole run; others of this file are quick")
def test_masks_of_some_alone_are_no_pass() -> None:
    """A target that shows what four of five send: nothing is judged, and it is said.

    Catches a pass that has looked at nothing; and beside keys, one that says no word of it.
    """

    def four(values, found):
        return {"tally": found["tally"], "sent": [*found["sent"][:4], None]}

    (check,) = (c for c in shown_as(four, ["mask-uniformity"]).checks if c.id == "mask-uniformity")
    assert (check.verdict, check.code) == (Verdict.NOT_APPLICABLE, "not-shown")
    assert check.fields["rounds"] == check.queries > 0
    report = shown_as(lambda v, f: {**four(v, f), "keys": f["keys"]}, ["mask-uniformity"])
    assert report.verdict is Verdict.PASS
    assert "not-shown" in [warning.code for warning in report.notes]


def test_a_target_that_shows_nothing_is_no_pass() -> None:
    report = shown_as(lambda v, f: f["tally"], ["mask-uniformity"])
    (check,) = (c for c in report.checks if c.id == "mask-uniformity")
    assert (check.verdict, check.code) == (Verdict.NOT_APPLICABLE, "not-shown")


@pytest.mark.parametrize("check", ["mask-uniformity", "wrap-around"])
def test_a_round_of_a_check_that_is_refused_is_named(check) -> None:
    """Catches the words of the target alone, which say nothing of the call."""

    def closed(values, found):
        if values[0].min() == 10:
            raise ValueError("closed")
        return found

    (contract,) = (c for c in shown_as(closed, [check]).checks if c.id == "input-contract")
    assert contract.code == "claimed-input-refused"
    assert "aggregate(5 parties, size=1)" in contract.message
    assert contract.message.endswith("closed")


TARGET = """
import numpy as np

def rounds(given, size):
    held, leaves = given
    found = []
    for _ in range(size):
        masks = np.random.default_rng().integers(0, 100, held.shape)
        total = held[(leaves == 0) | (leaves == 3)].sum(0) % 100
        sent = [None if when in (1, 2) else row for when, row in zip(leaves, masks)]
        found.append({"tally": total, "sent": sent})
    return found
"""


@pytest.mark.slow("over half a second")
def test_rounds_travel_to_a_process_and_back(tmp_path) -> None:
    """What parties sent reaches the gate from a Python target, whose process speaks JSON."""
    (tmp_path / "target.py").write_text(TARGET)
    release = TallyRelease(2, 2, 100, signed=False)
    target = open_target(f"{tmp_path / 'target.py'}:rounds", 20.0, release=release)
    given = [VALUES[0], np.array([0, 2])]
    try:
        (seen,) = release.rounds(target.ask_whole(given, 1), given, 1)
        again = release.shaped(target.ask(given, 3), given, 3)
    finally:
        target.close()
    assert seen.tally == (1, 2)
    assert sorted(seen.sent) == [1]
    assert again.tolist() == [[1.0, 2.0]] * 3


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("made", ["rows", "[list(row) for row in rows]"])
def test_residues_beyond_2_63_lose_nothing_on_their_way(tmp_path, made) -> None:
    """Catches an array of floats, in which what lies just below the modulus is rounded to it."""
    prime = 2**64 - 2**32 + 1
    (tmp_path / "field.py").write_text(
        f"def rounds(given, size):\n    rows = [(5, {prime} - 3)] * size\n    return {made}\n"
    )
    release = TallyRelease(2, 2, prime, signed=False)
    target = open_target(f"{tmp_path / 'field.py'}:rounds", 20.0, release=release)
    try:
        values = [np.zeros((2, 2), dtype=np.int64), np.zeros(2, dtype=np.int64)]
        assert release.shaped(target.ask(values, 2), values, 2).tolist() == [[5.0, -3.0]] * 2
    finally:
        target.close()
    with pytest.raises(CallError, match="whole numbers"):
        release.rounds([[5, float(prime)]], values, 1)
