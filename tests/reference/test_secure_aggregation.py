"""Secure aggregation: Shamir's sharing by a second implementation, masks, and whole rounds."""

import itertools

import numpy as np
import pytest
from flint import fmpz_mod_ctx, fmpz_mod_mat, fmpz_mod_poly_ctx
from scipy import stats

pytest.importorskip("cryptography", reason="needs the extra `tally`")

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpassay.reference.secure_aggregation import (
    Leaves,
    SecureAggregation,
    TooFewError,
)
from dpassay.reference.secure_aggregation.masks import PRIME, Masks, combine, expanded, split
from dpassay.reference.secure_aggregation.party import Party, verify_keys
from dpassay.reference.secure_aggregation.protocol import neighbours_of

FIELD = fmpz_mod_ctx(PRIME)


def interpolated(shares: dict[int, int]) -> list[int]:
    """Coefficients of the polynomial through shares, by solving Vandermonde's system in flint."""
    powers = [[pow(place, k, PRIME) for k in range(len(shares))] for place in shares]
    values = fmpz_mod_mat([[value] for value in shares.values()], FIELD)
    found = fmpz_mod_mat(powers, FIELD).solve(values)
    return [int(found[k, 0]) for k in range(len(shares))]


@pytest.mark.parametrize(("threshold", "parties"), [(1, 1), (2, 3), (3, 5), (7, 10)])
def test_shares_are_those_of_a_polynomial(threshold, parties) -> None:
    """A second implementation (flint) solves for the polynomial: its degree is threshold - 1.

    Catches a degree too high or low, a secret at another place, and coefficients that are 0.
    """
    secret = int.from_bytes(bytes(range(64)), "big")
    shares = split(secret, threshold, range(1, parties + 1))
    found = interpolated(shares)
    assert found[0] == secret
    assert all(found[1:threshold])
    assert not any(found[threshold:])
    polynomial = fmpz_mod_poly_ctx(FIELD)(found)
    assert all(int(polynomial(place)) == share for place, share in shares.items())
    for some in itertools.combinations(shares, threshold):
        assert combine({place: shares[place] for place in some}) == secret


def test_fewer_shares_fit_any_secret() -> None:
    """One share less than the threshold: for any other secret there is a polynomial through it."""
    shares = split(5, 3, (1, 2, 3, 4))
    for secret in (0, 5, PRIME - 1):
        assert interpolated({0: secret, 1: shares[1], 2: shares[2]})[0] == secret
    assert combine({1: shares[1], 2: shares[2]}) != 5
    assert split(5, 3, (1, 2, 3, 4)) != shares


@pytest.mark.parametrize(
    ("secret", "threshold", "places", "said"),
    [
        (PRIME, 1, (1,), "not in the field"),
        (1, 3, (1, 2), "threshold 3: expected 1 to 2"),
        (1, 1, (1, 1), "expected distinct numbers"),
        (1, 1, (0,), "expected distinct numbers"),
    ],
)
def test_what_cannot_be_shared_is_refused(secret, threshold, places, said) -> None:
    with pytest.raises(ValueError, match=said):
        split(secret, threshold, places)


def test_masks_are_the_stream_of_the_standard() -> None:
    """ChaCha20 under a key and nonce of zeros (RFC 8439, appendix A.1, test vector 1)."""
    words = expanded(bytes(32), 2, 2**62)
    stream = bytes.fromhex("76b8e0ada0f13d90405d6ae55386bd28")
    assert words.tolist() == [int.from_bytes(stream[k : k + 8], "little") % 2**62 for k in (0, 8)]


def test_masks_are_uniform_where_the_modulus_divides_no_power_of_two() -> None:
    """Null: uniform modulo 3 x 2^60; level 1e-7, two draws.

    Without rejection the lowest third of the range comes 6 times for 5, which is refused below.
    """
    modulus = 3 * 2**60
    drawn = expanded(b"1" * 32, 40_000, modulus)
    fourths = np.bincount((drawn // np.uint64(modulus // 4)).astype(int), minlength=4)
    assert stats.chisquare(fourths).pvalue > 1e-7
    words = np.random.default_rng(1).integers(0, 2**64, 40_000, dtype=np.uint64)
    wrong = (words % np.uint64(modulus)) // np.uint64(modulus // 4)
    assert stats.chisquare(np.bincount(wrong.astype(int), minlength=4)).pvalue < 1e-30


ROUNDS = [
    [0, 0, 0, 0, 0],
    [Leaves.BEFORE_KEYS, 0, 0, 0, 0],
    [0, Leaves.BEFORE_VALUES, 0, 0, 0],
    [0, 0, Leaves.AFTER_VALUES, 0, 0],
    [Leaves.BEFORE_VALUES, 0, 0, Leaves.BEFORE_VALUES, 0],
    [Leaves.BEFORE_KEYS, Leaves.BEFORE_VALUES, 0, 0, 0],
    [0, 0, 0, Leaves.BEFORE_VALUES, Leaves.AFTER_VALUES],
]


@pytest.mark.parametrize("leaves", ROUNDS)
@pytest.mark.parametrize("modulus", [257, 2**62])
def test_the_tally_is_the_sum_of_those_who_have_sent(leaves, modulus) -> None:
    """Catches signs that do not cancel, a mask that is taken off twice or not at all."""
    values = np.array([[5, -3], [100, 7], [-20, 0], [1, 2], [0, 50]])
    found = SecureAggregation(5, 3, modulus).round(values, leaves)
    counted = [k for k in range(5) if leaves[k] in (Leaves.NEVER, Leaves.AFTER_VALUES)]
    assert found.tally.tolist() == np.mod(values[counted].sum(0), modulus).tolist()
    assert sorted(found.sent) == [k + 1 for k in counted]
    gone = [k + 1 for k in range(5) if leaves[k] == Leaves.BEFORE_VALUES]
    assert (found.revealed["pair"], found.revealed["self"]) == (gone, sorted(found.sent))


@pytest.mark.parametrize(
    ("neighbours", "leaves"),
    [(2, [0] * 12), (4, [1, 2, 3, *[0] * 9]), (8, [1, 2, 2, 3, *[0] * 8])],
)
def test_masks_with_neighbours_alone_cancel_too(neighbours, leaves) -> None:
    """Of twelve parties so many leave as any order of them lets: more than half of the shares stay.

    Catches masks taken off for parties who share none with one who is gone.
    """
    values = np.arange(36).reshape(12, 3)
    counted = [k for k in range(12) if leaves[k] in (Leaves.NEVER, Leaves.AFTER_VALUES)]
    aggregation = SecureAggregation(12, 7, 1_000, neighbours=neighbours)
    for _ in range(3):
        found = aggregation.round(values, leaves)
        assert found.tally.tolist() == (values[counted].sum(0) % 1_000).tolist()


def test_neighbours_are_mutual_and_drawn_anew() -> None:
    """Each of 30 parties has 6; two rings of 30 are alike with probability 60 / 30!."""
    near = neighbours_of(range(1, 31), 6)
    assert all(len(of) == 6 and one not in of for one, of in near.items())
    assert all(one in near[other] for one, of in near.items() for other in of)
    assert neighbours_of(range(1, 31), 6) != near
    assert neighbours_of([3, 5, 8], 2) == {3: {5, 8}, 5: {3, 8}, 8: {3, 5}}
    for number in (3, 12, 0):
        with pytest.raises(ValueError, match=f"neighbours {number}: .*even.* 2"):
            SecureAggregation(12, 7, 100, neighbours=number)


def test_noise_in_shares_is_in_the_tally() -> None:
    """Each party that has sent adds its share, here 1 in each number."""
    aggregation = SecureAggregation(4, 3, 1_000, noise=np.ones)
    found = aggregation.round(np.zeros((4, 3), dtype=np.int64), [0, Leaves.BEFORE_VALUES, 0, 0])
    assert found.tally.tolist() == [3, 3, 3]


def test_too_few_leave_the_sum_hidden() -> None:
    values = np.zeros((4, 1), dtype=np.int64)
    for leaves in ([2, 3, 0, 0], [1, 1, 0, 0]):
        with pytest.raises(TooFewError, match="2 parties answer: expected 3"):
            SecureAggregation(4, 3, 100).round(values, leaves)
    with pytest.raises(ValueError, match="threshold 2: expected 3 to 4"):
        SecureAggregation(4, 2, 100)


def test_a_party_shows_no_two_secrets_of_another() -> None:
    """The masking key and the self seed together would show its values."""
    party = Party(1, Masks(100), 2, Ed25519PrivateKey.generate(), {})
    with pytest.raises(ValueError, match=r"party 2 .*present.*gone"):
        party.reveal([1, 2], [2])


def test_keys_of_another_are_refused() -> None:
    party = Party(1, Masks(100), 2, Ed25519PrivateKey.generate(), {})
    with pytest.raises(InvalidSignature):
        verify_keys(party.advertise(), Ed25519PrivateKey.generate().public_key())
