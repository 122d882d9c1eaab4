"""The probabilities Q(H) of labels as decimal text, to any number of digits."""

from ...reference import log_probabilities, parse_histogram, parse_noise

FLOAT_DIGITS = 12
"""Correct significant digits in float64 while the log-probability is above `FLOAT_FLOOR`."""

FLOAT_FLOOR = -690.0


def decimal_probabilities(
    histogram: str, noise: str, digits: int | None
) -> tuple[list[str], list[float]]:
    """Probabilities as decimal strings with `digits` significant digits, and natural logs.

    Without `digits`, 12 of them, from float64 unless a probability lies below 1e-299.
    Raises ValueError that says what is wrong with `histogram` or `noise`.
    """
    from mpmath import mp, mpf

    votes, family = parse_histogram(histogram), parse_noise(noise)
    logs = [float(value) for value in log_probabilities(votes, family)]
    wanted = FLOAT_DIGITS if digits is None else digits
    if digits is None and min(logs) > FLOAT_FLOOR:
        with mp.workdps(40):
            exact = [mp.exp(mpf(value)) for value in logs]
    else:
        from ...reference import exact_probabilities

        exact = exact_probabilities(votes.tolist(), family, wanted)
        with mp.workdps(40):
            logs = [float(mp.log(value)) for value in exact]
    with mp.workdps(wanted + 20):
        return [mp.nstr(value, wanted, strip_zeros=False) for value in exact], logs
