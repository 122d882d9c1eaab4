"""Claims that tests share: as tables, and as they stand in a file."""

import json
from typing import Any

COARSE = {"smallest_effect": 0.1, "tolerance": 0.2}
"""A [gate] for runs that need a verdict and not its precision: a tenth of the queries."""


def gnmax(sigma: object = 40, classes: int = 10, teachers: int = 250) -> dict[str, Any]:
    """The table `[mechanism]` of noisy argmax with Gaussian noise."""
    noise = f"gaussian:{sigma}"
    return {"name": "gnmax", "noise": noise, "classes": classes, "teachers": teachers}


def histogram(noise: str = "laplace:2", cells: int = 10) -> dict[str, Any]:
    """The table `[mechanism]` of a noisy histogram, whose neighbours have one record more."""
    return {"name": "noisy-histogram", "noise": noise, "adjacency": "add-remove", "cells": cells}


def in_toml(**tables: dict[str, Any]) -> str:
    """Tables of texts, numbers and truth values as TOML."""
    lines = []
    for name, table in tables.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


SMALL = gnmax(10, 4, 40)
"""A run of the gate on it takes a second, if it is coarse."""

SMALL_TOML = in_toml(mechanism=SMALL)

KEYS = histogram("discrete-laplace:1", 50) | {"name": "thresholded-histogram", "threshold": 6}
