"""Random generators: a cryptographically secure one for releases, seeded ones for tests."""

import secrets

import numpy as np


def secure_generator() -> np.random.Generator:
    """A numpy Generator over ChaCha20, keyed with 256 fresh bits of the operating system.

    Numpy's own generators can be predicted from their output, and predicted noise protects
    nobody; never seed a deployment.
    """
    from randomgen import ChaCha  # loads compiled generators that most callers never need

    return np.random.Generator(ChaCha(key=secrets.randbits(256), rounds=20))
