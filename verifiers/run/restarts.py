"""What a run that did not restart its target warns of."""

from ..targets import Target


def not_restarted(target: Target, lost: str, *, cut_short: bool, comparable: bool = True) -> str:
    """The warning of a run that did not restart its target; lost: what would not show.

    cut_short: the target could have been restarted, and the run ended before; comparable: an
    earlier report would show the same.
    """
    warning = f"the target was not restarted: {lost} would not show"
    if cut_short:
        return f"{warning}; the run ended before it could be"
    compare = ", or compare with an earlier report by --compare" if comparable else ""
    return f"{warning}; {target.no_restart}{compare}"
