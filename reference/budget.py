"""What an aggregator raises when its privacy budget is spent."""


class BudgetExhausted(Exception):  # noqa: N818 - the name is part of the public contract
    """Raised by a target that answers no more queries because its privacy budget is spent."""
