"""TenSEAL: vectors of parties, each with its share of the noise, added encrypted.

The first word is `bfv`, of whole numbers modulo a prime, or `ckks`, of approximate ones, which are
rounded once decrypted; `ckks raw` releases them as they are decrypted.
"""

import sys

import numpy as np
import tenseal
from served import serve
from shares import polya_share

BFV = "bfv" in sys.argv
if BFV:
    CONTEXT = tenseal.context(tenseal.SCHEME_TYPE.BFV, 4096, plain_modulus=1032193)
else:
    CONTEXT = tenseal.context(tenseal.SCHEME_TYPE.CKKS, 8192, coeff_mod_bit_sizes=[60, 40, 60])
    CONTEXT.global_scale = 2.0**40
QUORUM = 4
ENCRYPT = tenseal.bfv_vector if BFV else tenseal.ckks_vector


def one(held, leaves):
    """A round."""
    if sum(when not in (1, 2) for when in leaves) < QUORUM:
        raise ValueError("fewer than the quorum have sent")
    sent = {}
    for party, (values, when) in enumerate(zip(held, leaves, strict=True)):
        if when not in (1, 2):
            noisy = np.array(values) + polya_share(4, 2.0, len(values))
            sent[party] = ENCRYPT(CONTEXT, noisy.tolist())
    texts = [sent[k].serialize().hex() if k in sent else None for k in range(len(held))]
    total = None
    for vector in sent.values():
        total = vector if total is None else total + vector
    found = total.decrypt()
    tally = found if "raw" in sys.argv else [round(number) for number in found]
    return {"tally": tally, "ciphertexts": texts}


serve(lambda given, size: [one(*given) for _ in range(size)])
