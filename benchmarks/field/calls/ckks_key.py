"""How much of a CKKS key two decrypted tallies give away (Li and Micciancio 2021).

Whoever has added up the ciphertexts knows c0 + c1 s as far as the decrypted numbers tell it. They
are real parts, so that a tally gives the sum of the plaintext at a root and at its conjugate; two
tallies under one key are two equations for the key at both. Votes of 4,096 numbers, all slots, by
ten parties, with discrete Laplace noise added encrypted. Prints JSON: a row for each rounding of
what is published, with the error that decryption leaves and the part of the key that is found.
"""

import json

import numpy as np
import tenseal.sealapi as seal

DEGREE, SCALE, PARTIES = 8192, 2.0**40, 10
RNG = np.random.default_rng(3)

parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
parameters.set_poly_modulus_degree(DEGREE)
parameters.set_coeff_modulus(seal.CoeffModulus.Create(DEGREE, [60, 40, 60]))
context = seal.SEALContext(parameters, True, seal.SEC_LEVEL_TYPE.TC128)
keys = seal.KeyGenerator(context)
secret_key = keys.secret_key()
public = seal.PublicKey()
keys.create_public_key(public)
encoder = seal.CKKSEncoder(context)
encryptor = seal.Encryptor(context, public)
decryptor = seal.Decryptor(context, secret_key)
evaluator = seal.Evaluator(context)
moduli = context.first_context_data().parms().coeff_modulus()
PRIME, PRIMES = moduli[0].value(), len(moduli)


def encoded(numbers, scale):
    """The plaintext of numbers."""
    plain = seal.Plaintext()
    encoder.encode([float(x) for x in numbers], scale, plain)
    return plain


def tally():
    """A sum of encrypted votes with noise, and its exact value."""
    votes = RNG.integers(0, 2, (PARTIES, DEGREE // 2))
    rate = 1.0 - np.exp(-0.5)
    noise = RNG.geometric(rate, votes.shape[1]) - RNG.geometric(rate, votes.shape[1])
    total = seal.Ciphertext()
    encryptor.encrypt(encoded(noise, SCALE), total)
    for row in votes:
        one = seal.Ciphertext()
        encryptor.encrypt(encoded(row, SCALE), one)
        evaluator.add_inplace(total, one)
    return total, votes.sum(axis=0) + noise


def decrypted(total):
    """The numbers of a ciphertext."""
    plain = seal.Plaintext()
    decryptor.decrypt(total, plain)
    return np.array(encoder.decode_double(plain))


def equation(total, published):
    """c1, and c1 s at each root added to that at its conjugate, modulo the first prime."""
    words = total.dyn_array()
    c0 = [words.at(i) for i in range(DEGREE)]
    c1 = [words.at(PRIMES * DEGREE + i) for i in range(DEGREE)]
    twice = encoded(published, 2.0 * SCALE)
    return c1, [(twice[i] - c0[i] - c0[~i]) % PRIME for i in range(DEGREE)]


def found(one, other):
    """The part of the key that two equations give."""
    (a, b), (c, d) = one, other
    secret, right = secret_key.data(), 0
    for i in range(DEGREE):
        determinant = (a[i] * c[~i] - a[~i] * c[i]) % PRIME
        at_root = (b[i] * c[~i] - a[~i] * d[i]) * pow(determinant, -1, PRIME) % PRIME
        right += at_root == secret[i]
    return right / DEGREE


PUBLISHED = {
    "as decrypted": lambda numbers: numbers,
    "six decimals": lambda numbers: np.round(numbers, 6),
    "whole numbers": np.rint,
}
tallies = [tally() for _ in range(2)]
numbers = [decrypted(total) for total, _ in tallies]
off = np.concatenate([x - exact for x, (_, exact) in zip(numbers, tallies, strict=True)])
rows = []
for name, rounding in PUBLISHED.items():
    two = [equation(total, rounding(x)) for x, (total, _) in zip(numbers, tallies, strict=True)]
    rows.append({"published": name, "found": found(*two)})
print(json.dumps({"deviation": float(off.std()), "rows": rows}))
