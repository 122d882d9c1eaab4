"""The parts of a run."""

from enum import Enum, auto


class Phase(Enum):
    """The parts of a run, in their order, of which each check concludes in one."""

    OPENING = auto()
    """Before there is a plan."""
    SHARED = auto()
    """While what all checks look at is gathered: by evidence, looked at throughout."""
    OWN = auto()
    """After that: the check asks for releases of its own, unless another has failed."""
    RESTARTED = auto()
    """Once the target has been restarted, if it can be, and the claim is not refuted."""
    ATTACK = auto()
    """After that, on what was gathered."""
    AUDIT = auto()
    """Whatever was found before."""
    ACCOUNTING = auto()
    """Last, as a budget may be used up."""
    CLAIM = auto()
    """Whatever became of the target: what can be said of the claim alone."""
