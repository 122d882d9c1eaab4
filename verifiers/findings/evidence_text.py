"""E-values in words."""

_BEYOND = 100_000.0  # decimal log from which an e-value counts as unbounded


def power_of_ten(log10: float) -> str:
    """An e-value by its decimal log, such as `10^7.2`, or `beyond all bounds`."""
    return "beyond all bounds" if log10 >= _BEYOND else f"10^{round(log10, 1) + 0.0:.1f}"


def an_e_value(log10: float) -> str:
    """An e-value as the end of a sentence, such as `an e-value of 10^7.2`."""
    return f"an e-value {'' if log10 >= _BEYOND else 'of '}{power_of_ten(log10)}"
