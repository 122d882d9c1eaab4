"""Wagers on numbers: each is a nonnegative martingale where the releases follow the claim.

`uniform` bets against the uniform law of probability transforms, `faults` on known faults by exact
ratios of their laws, `noise_law` averages both over all draws and over groups of them.
"""
