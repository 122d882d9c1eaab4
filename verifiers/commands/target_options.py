"""Options of `dpassay verify` that need, or exclude, each other."""

from ..targets import shown_spec


def check_target_options(
    target: str | None, claim_file: str | None, queries: int | None, max_queries: int | None
) -> None:
    """Raises ValueError with one line for a target without a claim, or for two budgets."""
    if target is not None and claim_file is None:
        needed = "needs --claim FILE: what should it be held to?"
        raise ValueError(f"TARGET {shown_spec(target)} {needed}")
    if queries is not None and max_queries is not None:
        raise ValueError("--queries and --max-queries: give one or the other")
