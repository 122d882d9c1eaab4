"""The example of the guide to gradients: a model, its people, a deployment of it and its claim."""

from pathlib import Path

import numpy as np

MODEL = '''\
"""Logistic regression, as a callable that gives the gradient of each record."""

import numpy as np

# of sex, age, hours and 1: before each of five epochs of training, of people.csv
weights = np.array(
    [
        [0.8, -0.4, 0.3, 0.0],
        [0.68, -0.12, 0.77, -0.55],
        [0.69, -0.04, 0.91, -0.72],
        [0.74, -0.01, 0.97, -0.77],
        [0.78, 0.01, 1.0, -0.81],
    ]
)


def gradients(records, labels, round=0):
    """Records (n, q) and labels (n,) to gradients (n, q + 1), not clipped; sex may be left out."""
    inputs = np.column_stack([records, np.ones(len(records))])
    error = 1 / (1 + np.exp(-inputs @ weights[round, -inputs.shape[1] :])) - labels
    return error[:, None] * inputs
'''

DEPLOYMENT = '''\
"""Noisy sums of clipped gradients, as a training step releases them."""

import numpy as np

rng = np.random.default_rng(5)


def aggregate(tensors, size):
    """Gradients (n, 4) of a batch, clipped to length 1, to releases (size, 4)."""
    length = np.maximum(np.linalg.norm(tensors[0], axis=1, keepdims=True), 1e-30)
    total = (tensors[0] * np.minimum(1.0, 1.0 / length)).sum(0)
    return (total + rng.normal(size=(size, 4))) / 16
'''

CLAIM = """\
[mechanism]
name = "noisy-gradient"
noise = "gaussian:1.0"
adjacency = "add-remove"
shapes = [[4]]
clip_norm = 1.0
divide_by = 16

[privacy]
epsilon = 4.4
delta = 1e-5
queries = 1

[leakage]
model = "model.py:gradients"
data = "people.csv"
label = "income"
attribute = "sex"
max_advantage = 0.3

[gate]
max_queries = 4000
"""

_PEOPLE = 2_000


def people() -> str:
    """CSV of made-up people: hours and income go with sex, as they do in Adult; age does not."""
    rng = np.random.default_rng(0)
    sex = np.arange(_PEOPLE) % 2
    age = rng.normal(size=_PEOPLE)
    hours = rng.normal(sex - 0.5)
    income = rng.random(_PEOPLE) < 1 / (1 + np.exp(-(hours + sex - 1.0)))
    rows = zip(sex, age, hours, income, strict=True)
    lines = [f"{s},{a:.3f},{h:.3f},{int(i)}" for s, a, h, i in rows]
    return "\n".join(["sex,age,hours,income", *lines]) + "\n"


def write_example(folder: Path) -> list[Path]:
    """Writes the four files of the example into a folder, which is made; returns their paths.

    Raises FileExistsError for the first that is there already; nothing is written then. OSError as
    the file system has it.
    """
    texts = {
        "model.py": MODEL,
        "people.csv": people(),
        "deployment.py": DEPLOYMENT,
        "gradients.toml": CLAIM,
    }
    for name in texts:
        if (folder / name).exists():
            raise FileExistsError(str(folder / name))
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]
