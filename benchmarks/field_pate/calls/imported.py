"""Files of a code base, imported from where the benchmark keeps them.

With what stands in for packages that they name and that a wrapper does not use.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np

KEPT = Path(__file__).parents[3] / ".benchmarks" / "field_pate"


class StandIn(ModuleType):
    """A package that is not needed: each of its names is one too, and may be called."""

    def __init__(self, name="stand_in", *_):
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(name)

    def __call__(self, *_, **__):
        return self


def stand_in(*names, **attributes):
    """Puts stand-ins where these modules would be imported from; attributes: of all of them.

    A module that is imported already is left as it is.
    """
    for name in names:
        module = sys.modules.setdefault(name, StandIn(name))
        for attribute, value in attributes.items():
            setattr(module, attribute, value)


def numpy_once_had(**names):
    """Gives numpy names that it has no longer."""
    for name, value in names.items():
        setattr(np, name, value)


def file_of(code_base, file):
    """The kept file of a code base OWNER/NAME."""
    (folder,) = KEPT.glob(f"{code_base.replace('/', '+')}@*")
    return folder / file


def imported(code_base, file, name=None):
    """A file as a module; name: under which the code base's other files import it."""
    path = file_of(code_base, file)
    name = name or path.stem
    spec = spec_from_file_location(name, path)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def votes_of(histogram):
    """The class that each teacher votes for, in the order of the classes."""
    return np.repeat(np.arange(len(histogram)), histogram)


class WithAccountant:
    """A target: `labels(histogram, size)`, and a cost of one query of a histogram per order."""

    def __init__(self, labels, cost):
        self.labels = labels
        self.cost = cost

    def sample(self, histogram, size):
        return self.labels(histogram, size)

    def rdp(self, histogram, orders):
        return self.cost(np.array(histogram), np.array(orders, dtype=float))


def only_accountant(cost):
    """A target whose accountant alone is judged: its labels are zeros."""
    return WithAccountant(lambda _, size: np.zeros(size, dtype=int), cost)


class ByOutcome(WithAccountant):
    """A target whose cost depends on whether a query was answered; its labels are zeros."""

    def __init__(self, cost):
        super().__init__(lambda _, size: np.zeros(size, dtype=int), cost)

    def rdp(self, histogram, orders, answered):
        return self.cost(np.array(histogram), np.array(orders, dtype=float), answered)
