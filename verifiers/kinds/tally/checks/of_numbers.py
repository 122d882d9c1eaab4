"""The checks of numbers that tallies have: their releases are sums with noise too."""

from ...numbers.checks import (
    fresh_noise,
    independence,
    input_contract,
    joint,
    location,
    noise_law,
    noise_scale,
)

SPECS = (
    *input_contract.SPECS,
    *noise_law.SPECS,
    *noise_scale.SPECS,
    *location.SPECS,
    *joint.SPECS,
    *independence.SPECS,
    *fresh_noise.SPECS,
)
