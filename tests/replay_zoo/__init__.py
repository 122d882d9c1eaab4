"""Deployments whose sensitivity is wrong, and correct ones, as people write them.

`wrong.py` has one function for each fault; the line where it arises ends in `# fault`. The first
word of its name says under which claim it is looked at. Of correct ones, `orders.py` has those that
seem to move further than they do.
"""

import inspect
from pathlib import Path
from types import ModuleType

from . import correct, orders, wrong

FOLDER = Path(__file__).parents[1]
"""Where `replay_zoo.wrong:NAME` is a spec."""

COUNTS = """
[mechanism]
name = "noisy-histogram"
noise = "laplace:1"
cells = 5
adjacency = "add-remove"
"""
SUM = """
[mechanism]
name = "noisy-sum"
noise = "laplace:1"
dimensions = 1
lower = 0.0
upper = 1.0
adjacency = "add-remove"
"""
MEAN = """
[mechanism]
name = "noisy-mean"
noise = "laplace:0.01"
dimensions = 1
lower = 0.0
upper = 1.0
divide_by = 100.0
adjacency = "replace-one"
"""
VECTOR = """
[mechanism]
name = "noisy-sum"
noise = "gaussian:1"
dimensions = 3
clip_norm = 1.0
adjacency = "add-remove"
"""
GRADIENT = """
[mechanism]
name = "noisy-gradient"
noise = "gaussian:1"
shapes = [[2, 2], [2]]
clip_norm = 1.0
divide_by = 10.0
adjacency = "add-remove"
"""
LABELS = """
[mechanism]
name = "lnmax"
noise = "laplace:5"
classes = 4
teachers = 50
"""
CONFIDENT = """
[mechanism]
name = "confident-gnmax"
noise = "gaussian:10"
threshold = 60
threshold_noise = "gaussian:10"
classes = 4
teachers = 100
"""

_BY_WORD = {
    "counts": COUNTS,
    "sum": SUM,
    "mean": MEAN,
    "vector": VECTOR,
    "gradient": GRADIENT,
    "labels": LABELS,
    "confident": CONFIDENT,
}


def _named(module: ModuleType) -> dict[str, str]:
    """Function -> its claim, by the first word of its name."""
    return {
        name: _BY_WORD[name.split("_")[0]]
        for name, value in vars(module).items()
        if name.split("_")[0] in _BY_WORD and callable(value)
    }


WRONG, CORRECT, ORDERS = _named(wrong), _named(correct), _named(orders)


def fault_lines(name: str) -> list[str]:
    """Lines `wrong.py:N` of a function that end in `# fault`."""
    lines, first = inspect.getsourcelines(getattr(wrong, name))
    return [
        f"wrong.py:{first + i}" for i, line in enumerate(lines) if line.rstrip().endswith("# fault")
    ]
