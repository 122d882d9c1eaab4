"""PATE-mlp: `add_global_noise`, out of its notebook."""

import json
from types import SimpleNamespace

import numpy as np
from imported import file_of, votes_of

NOTEBOOK = file_of("dmachooka/PATE-mlp", "PATE_analysispytorch_BotNeTIoT.ipynb")


def function(name, **known):
    """The function that a cell of the notebook defines, with what it knows of other cells."""
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        source = "".join(cell["source"])
        if f"def {name}(" in source:
            exec(source, known)
            return known[name]
    raise ImportError(f"{NOTEBOOK}: no cell defines {name}")


# it asks for an array of one number, which numpy no longer takes for a number
one_number = SimpleNamespace(laplace=lambda loc, scale, _: np.random.laplace(loc, scale))
known = SimpleNamespace(bincount=np.bincount, argmax=np.argmax, array=np.array, random=one_number)
add_global_noise = function("add_global_noise", np=known, num_classes=2)


def labels(histogram, size):
    votes = np.tile(votes_of(histogram), (size, 1))
    return add_global_noise(votes, epsilon=0.6)
