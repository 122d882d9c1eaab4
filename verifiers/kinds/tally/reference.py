"""The reference of a claimed tally: secure aggregation with noise in shares."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....reference.generators import secure_generator
from ....reference.numbers import Shares
from ...inputs.input_error import InputError
from ...optional_packages import lacking
from .claim import TallyClaim

if TYPE_CHECKING:
    from ....reference.secure_aggregation import SecureAggregation

Added = Callable[[NDArray[np.int64]], NDArray[np.int64]]


def tallied(claim: TallyClaim) -> Any:
    """A function `(round, size) -> rounds` with what its parties send.

    Raises ValueError of one line where the package for its ciphers is absent, for a threshold of
    half of the parties or less, and for a modulus beyond 2^62.
    """
    absent = lacking("the reference of tallies", "cryptography")
    if absent is not None:
        raise InputError(absent, code="package-missing")
    from ....reference.secure_aggregation import SecureAggregation

    mechanism, family = claim.mechanism, claim.mechanism.noise.family
    rng = secure_generator()

    def share(size: int) -> Any:
        assert isinstance(family, Shares)
        return family.share(rng, (size,))

    if mechanism.modulus > 2**62:
        raise ValueError(f"modulus = {mechanism.modulus}: the reference takes 2^62 at most")
    aggregation = SecureAggregation(
        mechanism.parties,
        mechanism.fewest,
        mechanism.modulus,
        share if mechanism.in_shares else None,
    )

    def whole(tally: NDArray[np.int64]) -> NDArray[np.int64]:
        return tally + family.sample(rng, tally.shape).astype(np.int64)

    return answering(claim, aggregation, None if mechanism.in_shares else whole)


def answering(
    claim: TallyClaim, aggregation: "SecureAggregation", added: Added | None = None
) -> Any:
    """A function `(round, size) -> rounds` that has each round of an aggregation.

    added: makes a noisy tally of a tally (d,), where the parties add no noise.
    """
    mechanism = claim.mechanism
    half = mechanism.modulus // 2 if mechanism.released == "signed" else 0

    def answer(values: Any, size: int) -> list[dict[str, Any]]:
        return [one(*values) for _ in range(size)]

    def one(held: Any, leaves: Any) -> dict[str, Any]:
        found = aggregation.round(held, [int(when) for when in leaves])
        tally = found.tally.astype(np.int64)
        if added is not None:
            tally = added(tally)
        tally = (tally + half) % mechanism.modulus - half
        parties = range(1, mechanism.parties + 1)
        sent = [np.asarray(found.sent[n]).tolist() if n in found.sent else None for n in parties]
        keys = [found.keys[n].hex() if n in found.keys else None for n in parties]
        revealed = {what: list(of) for what, of in found.revealed.items()}
        return {"tally": tally.tolist(), "sent": sent, "keys": keys, "revealed": revealed}

    return answer
