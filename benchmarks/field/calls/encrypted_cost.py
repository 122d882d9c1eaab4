"""The cost of an encrypted vote of ten numbers: `encrypted_cost.py phe|bfv|ckks PARTIES`, as JSON.

Milliseconds of all parties, the sum and its decryption; bytes of one ciphertext; for ckks the
deviation and the largest of the errors that decryption leaves.
"""

import json
import sys
import time

import numpy as np

SCHEME, PARTIES = sys.argv[1], int(sys.argv[2])
VOTES = np.random.default_rng(1).integers(0, 2, (PARTIES, 10))


def paillier():
    """Encrypt, decrypt, and the bytes of a ciphertext: ten slots of 32 bits in one plaintext."""
    from phe import paillier as scheme

    public, private = scheme.generate_paillier_keypair(n_length=2048)

    def encrypted(row):
        return public.encrypt(sum(int(x) << (32 * k) for k, x in enumerate(row)))

    def decrypted(total):
        packed = private.decrypt(total)
        return [(packed >> (32 * k)) % 2**32 for k in range(10)]

    return encrypted, decrypted, lambda one: 2 * 2048 // 8


def lattice():
    """The same of a vector under BFV or CKKS, at 128 bits of security."""
    import tenseal

    if SCHEME == "bfv":
        context = tenseal.context(tenseal.SCHEME_TYPE.BFV, 4096, plain_modulus=1032193)
    else:
        kind = tenseal.SCHEME_TYPE.CKKS
        context = tenseal.context(kind, 8192, coeff_mod_bit_sizes=[60, 40, 60])
        context.global_scale = 2.0**40
    vector = tenseal.bfv_vector if SCHEME == "bfv" else tenseal.ckks_vector
    return (
        lambda row: vector(context, row.tolist()),
        lambda total: total.decrypt(),
        lambda one: len(one.serialize()),
    )


encrypted, decrypted, size = paillier() if SCHEME == "phe" else lattice()
encrypted(VOTES[0])  # what is set up once
began = time.perf_counter()
total = first = encrypted(VOTES[0])
for row in VOTES[1:]:
    total = total + encrypted(row)
found = decrypted(total)
seconds = time.perf_counter() - began
off = np.array(found[:10]) - VOTES.sum(axis=0)
if abs(off).max() > 0.4:
    sys.exit(f"the sum is off by {abs(off).max()}")
print(
    json.dumps(
        {
            "ms": 1e3 * seconds / PARTIES,
            "bytes": size(first),
            "deviation": float(off.std()),
            "largest": float(abs(off).max()),
        }
    )
)
