"""phe (python-paillier): parties encrypt values with a share of the noise; sums are decrypted.

Each party packs its numbers into one plaintext of 2,048 bits, a slot of 24 bits each. With the
word `kept`, a party keeps the ciphertext of values that it has sent before, and the server adds the
noise; with the word `narrow`, slots have 8 bits.
"""

import sys

import numpy as np
from phe import paillier
from served import serve
from shares import polya_share

PUBLIC, PRIVATE = paillier.generate_paillier_keypair(n_length=2048)
SLOT, OFFSET = (8, 42) if "narrow" in sys.argv else (24, 2**12)
KEPT, QUORUM = {}, 4


def encrypted(numbers):
    """One ciphertext of numbers, each shifted so that none is negative."""
    packed = sum((int(number) + OFFSET) << (SLOT * k) for k, number in enumerate(numbers))
    if "kept" not in sys.argv:
        return PUBLIC.encrypt(packed)
    return KEPT.setdefault(packed, PUBLIC.encrypt(packed))


def one(held, leaves):
    """A round."""
    if sum(when not in (1, 2) for when in leaves) < QUORUM:
        raise ValueError("fewer than the quorum have sent")
    width, sent, by_server = len(held[0]), {}, np.zeros(len(held[0]), dtype=int)
    for party, (values, when) in enumerate(zip(held, leaves, strict=True)):
        if when not in (1, 2):
            share = polya_share(4, 2.0, width)
            if "kept" in sys.argv:
                by_server += share
                share = 0 * share
            sent[party] = encrypted(np.array(values) + share)
    total, added = sum(sent.values()), len(sent)
    if "kept" in sys.argv:
        total, added = total + encrypted(by_server), added + 1
    packed = PRIVATE.decrypt(total)
    tally = [(packed >> (SLOT * k)) % 2**SLOT - OFFSET * added for k in range(width)]
    texts = [f"{sent[k].ciphertext(False):x}" if k in sent else None for k in range(len(held))]
    return {"tally": tally, "ciphertexts": texts}


serve(lambda given, size: [one(*given) for _ in range(size)])
