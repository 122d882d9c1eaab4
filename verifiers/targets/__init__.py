"""Deployments under test: how they are reached, and what of their replies is believed."""

from .in_process import InProcessTarget
from .process import ProcessTarget
from .replies import Refused, Target, TargetError, checked_labels
from .spec import open_target

__all__ = [
    "InProcessTarget",
    "ProcessTarget",
    "Refused",
    "Target",
    "TargetError",
    "checked_labels",
    "open_target",
]
