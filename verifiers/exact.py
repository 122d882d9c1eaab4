"""Q(H) as decimal text, to the digits asked for."""

from ..reference import log_probabilities, parse_histogram, parse_noise

FLOAT_DIGITS = 12
"""Significant digits of the float64 form that are always correct."""


def decimal_probabilities(
    histogram: str, noise: str, digits: int | None
) -> tuple[list[str], list[float]]:
    """Probabilities as decimal strings with `digits` significant digits, and natural logs.

    Without `digits`, float64 to 12. Raises ValueError naming what is wrong with the text.
    """
    from mpmath import mp, mpf

    votes, family = parse_histogram(histogram), parse_noise(noise)
    logs = [float(value) for value in log_probabilities(votes, family)]
    if digits is None:
        with mp.workdps(40):
            exact = [mp.exp(mpf(value)) for value in logs]
    else:
        from ..reference import exact_probabilities

        exact = exact_probabilities(votes.tolist(), family, digits)
        with mp.workdps(40):
            logs = [float(mp.log(value)) for value in exact]
    wanted = FLOAT_DIGITS if digits is None else digits
    with mp.workdps(wanted + 20):
        return [mp.nstr(value, wanted, strip_zeros=False) for value in exact], logs
