"""Noisy labels of encrypted votes, as CaPC has them: sum, noise inside, decrypt, argmax.

The first word is `phe` (Paillier, fixed point of 16 bits in slots of 40) or `tenseal` (CKKS). Votes
are encrypted once for a call; each answer has noise of its own, encrypted and added to their sum
(Choquette-Choo et al. 2021, section 3, has the noise drawn by the privacy guardian). With the word
`kept`, the noise of an answer is that of the one before in every second answer.
"""

import sys

import numpy as np
from served import serve_labels

RNG = np.random.default_rng()


class Paillier:
    """Votes packed into one plaintext."""

    slot, unit, offset = 40, 2**16, 2**12

    def __init__(self):
        from phe import paillier

        self.public, self.private = paillier.generate_paillier_keypair(n_length=1024)

    def encrypted(self, numbers):
        """One ciphertext of numbers."""
        whole = (round((float(x) + self.offset) * self.unit) for x in numbers)
        return self.public.encrypt(sum(x << (self.slot * k) for k, x in enumerate(whole)))

    def decrypted(self, total, size):
        """The numbers in fixed point, each shifted alike."""
        packed = self.private.decrypt(total)
        return [(packed >> (self.slot * k)) % 2**self.slot for k in range(size)]


class Ckks:
    """Votes as a vector of approximate numbers."""

    def __init__(self):
        import tenseal

        self.context = tenseal.context(
            tenseal.SCHEME_TYPE.CKKS, 8192, coeff_mod_bit_sizes=[60, 40, 60]
        )
        self.context.global_scale = 2.0**40
        self.vector = tenseal.ckks_vector

    def encrypted(self, numbers):
        """A vector of numbers."""
        return self.vector(self.context, [float(x) for x in numbers])

    def decrypted(self, total, size):
        """The numbers."""
        return total.decrypt()


SCHEME = Paillier() if "phe" in sys.argv else Ckks()


def labels(histogram, size):
    """So many labels of a histogram of votes."""
    votes, found, noise = SCHEME.encrypted(histogram), [], None
    for turn in range(size):
        if noise is None or "kept" not in sys.argv or turn % 2 == 0:
            noise = SCHEME.encrypted(RNG.normal(0.0, 5.0, len(histogram)))
        found.append(int(np.argmax(SCHEME.decrypted(votes + noise, len(histogram)))))
    return found


serve_labels(labels)
