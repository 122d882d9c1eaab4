"""The example packages of docs/how-to/extend, laid where Python finds them as pip lays them."""

import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "docs" / "how-to" / "extend"


def lay(example: str, site: Path) -> None:
    """The module of an example in `site`, and the metadata that its pyproject.toml asks for."""
    folder = EXAMPLES / example
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    for module in folder.glob("*.py"):
        shutil.copy(module, site)
    for group, points in project["entry-points"].items():
        lay_points(site, project["name"], group, points)


def lay_points(site: Path, package: str, group: str, points: dict[str, str]) -> None:
    """The metadata of an installed package that adds these entry points, by name, to `group`."""
    info = site / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))


@contextmanager
def on_the_path(site: Path) -> Iterator[None]:
    """A block in which packages and modules in `site` are found."""
    sys.path.append(str(site))
    try:
        yield
    finally:
        sys.path.remove(str(site))
