"""Deployments under test: how they are reached, and how their replies are checked."""

from .charge import Charge, checked_charge
from .http_options import HttpOptions
from .in_process import InProcessTarget
from .kept import KeptConnections
from .labels import checked_labels
from .paced import PacedTarget, ask_each, ask_whole, at_once, calls_at_once, largest_whole, parts
from .process import ProcessTarget
from .replies import NotOffered, Refused, Target, TargetError, checked_spent, shown_spec
from .restart_command import FreshStateCommand, RestartCommand, begin_anew
from .spec import open_target

__all__ = [
    "Charge",
    "FreshStateCommand",
    "HttpOptions",
    "InProcessTarget",
    "KeptConnections",
    "NotOffered",
    "PacedTarget",
    "ProcessTarget",
    "Refused",
    "RestartCommand",
    "Target",
    "TargetError",
    "ask_each",
    "ask_whole",
    "at_once",
    "begin_anew",
    "calls_at_once",
    "checked_charge",
    "checked_labels",
    "checked_spent",
    "largest_whole",
    "open_target",
    "parts",
    "shown_spec",
]
