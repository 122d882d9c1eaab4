"""`dpassay audit --mechanism`: its options, and its work."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from ..commands.exit_statuses import fail, on_stdout
from ..commands.options import Whole
from .workers import workers_options

ADVERSARIES = ("nat-miaq", "pois-miaq", "pois-minq")
_SOURCES = ("test", "train", "embedding")
_LEARNERS = ("nearest", "logistic", "tree")
_MECHANISMS = ("pate", "capc", "prompt-pate", "private-knn")

_OPTIONS = (
    click.option(
        "--mechanism",
        type=click.Choice(_MECHANISMS),
        help="Audit a mechanism by name on real records, in place of a TARGET.",
    ),
    click.option(
        "--adversary",
        "adversaries",
        type=click.Choice(ADVERSARIES),
        multiple=True,
        help="One or more; all three without it.",
    ),
    click.option("--data", metavar="NAME", help="digits (default), mnist, or a CSV file."),
    click.option("--label", metavar="COLUMN", help="Of a CSV file: what is predicted."),
    click.option("--teachers", type=Whole(1, 100_000), help="50 without it; of kNN, neighbours."),
    click.option("--noise", metavar="SPEC", help="gaussian:8 without it."),
    click.option("--learner", type=click.Choice(_LEARNERS), help="nearest without it."),
    click.option("--sampling", type=float, help="Of kNN: probability of a record; 0.2."),
    click.option(
        "--source", type=click.Choice(_SOURCES), help="Of kNN: the point of pois-minq; test."
    ),
    click.option("--queries", type=Whole(1, 100_000), help="Different ones; 30 without it."),
    click.option("--times", type=Whole(1, 10**9), help="That one query is repeated; 1."),
    click.option("--trainings", type=Whole(1, 10**6), help="To estimate votes by; 100."),
    click.option("--experiments", type=Whole(2, 10**12), help="A query and world; 100000000."),
    click.option("--anew", is_flag=True, help="Draw votes and noise in every experiment."),
    click.option("--order", "orders", type=float, multiple=True, help="Rényi; 2, 4, 8, 16, 20."),
    click.option("--delta", type=float, help="Of epsilon in --json; 1e-6."),
    click.option("--seed", type=Whole(0, 2**63 - 1), help="Of trainings and labels; 0."),
    click.option("--cache", metavar="DIR", help="Where trained votes are kept."),
)

DEFAULTS: dict[str, Any] = {
    "adversaries": ADVERSARIES,
    "data": "digits",
    "label": None,
    "teachers": 50,
    "noise": "gaussian:8",
    "learner": "nearest",
    "sampling": 0.2,
    "source": "test",
    "queries": 30,
    "times": 1,
    "trainings": 100,
    "experiments": 10**8,
    "anew": False,
    "orders": (2.0, 4.0, 8.0, 16.0, 20.0),
    "delta": 1e-6,
    "seed": 0,
    "cache": None,
}
"""What options are without a word; that none was given is told from this."""


def mechanism_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of `--mechanism` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return workers_options(command)


def given(options: dict[str, Any]) -> list[str]:
    """The names of those options that were given."""
    return [name for name, value in options.items() if value not in (None, False, ())]
