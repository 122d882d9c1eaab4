"""What a run that did not restart its target warns of."""

from ..findings.note import Note
from ..targets import Target


def not_restarted(target: Target, lost: str, *, cut_short: bool, comparable: bool = True) -> Note:
    """The warning of a run that did not restart its target; lost: what would not show.

    cut_short: the target could have been restarted, and the run ended before; comparable: an
    earlier report would show the same.
    """
    warning = f"the target was not restarted: {lost} would not show"
    if cut_short:
        return Note("not-restarted", f"{warning}; the run ended before it could be")
    compare = ", or compare with an earlier report by --compare" if comparable else ""
    return Note("not-restarted", f"{warning}; {target.no_restart}{compare}")
