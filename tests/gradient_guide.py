"""The files that docs/how-to/gradients.md names, for tests that type its commands."""

import re
from pathlib import Path

import numpy as np

GUIDE = Path(__file__).parents[1] / "docs" / "how-to" / "gradients.md"

DEPLOYMENT = """
import numpy as np
rng = np.random.default_rng(5)
def aggregate(tensors, size):
    length = np.maximum(np.linalg.norm(tensors[0], axis=1, keepdims=True), 1e-30)
    total = (tensors[0] * np.minimum(1.0, 1.0 / length)).sum(0)
    return (total + rng.normal(size=(size, 3))) / 16
"""


def write_files(folder: Path) -> None:
    """Writes the model, the claim, people whose sex is in no other column, and a deployment."""
    for name, language in (("model.py", "python"), ("gradients.toml", "toml")):
        found = re.search(rf"^```{language}\n(.*?)^```", GUIDE.read_text(), re.S | re.M)
        assert found is not None, language
        (folder / name).write_text(found.group(1))
    with (folder / "gradients.toml").open("a") as claim:
        claim.write("\n[gate]\nmax_queries = 4000\n")
    (folder / "deployment.py").write_text(DEPLOYMENT)
    rng = np.random.default_rng(0)
    lines = [f"{i % 2},{rng.normal():.3f},{rng.normal():.3f},{i // 2 % 2}" for i in range(200)]
    (folder / "people.csv").write_text("sex,age,hours,income\n" + "\n".join(lines))
