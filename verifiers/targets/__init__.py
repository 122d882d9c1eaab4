"""Deployments under test: how they are reached, and what of their replies is believed."""

from .in_process import InProcessTarget
from .process import ProcessTarget
from .replies import (
    NotOffered,
    Refused,
    Target,
    TargetError,
    checked_charge,
    checked_labels,
    checked_spent,
)
from .spec import open_target

__all__ = [
    "InProcessTarget",
    "NotOffered",
    "ProcessTarget",
    "Refused",
    "Target",
    "TargetError",
    "checked_charge",
    "checked_labels",
    "checked_spent",
    "open_target",
]
