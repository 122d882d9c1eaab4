"""Imports run one way: reference <- attacks <- verifiers, and from floor to floor within verifiers.

The floors are those of ARCHITECTURE.md. Catches a check that imports a command, or evidence that
knows of the plan; imports within a function count as well.
"""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FLOORS = (
    {"reference"},
    {"attacks"},
    {"text", "optional_packages"},
    {"targets", "inputs", "evidence"},
    {"claims"},
    {"findings"},
    {"ledger"},
    {"run"},
    {"paths"},
    {"kinds"},
    {"labels", "numbers"},
    {"batches", "keys", "lawless", "tables", "tally"},
    {"replay", "same_as"},
    {"strategies", "gradients", "cli"},
    {"reporting", "testing", "github", "demos", "init"},
    {"schemas"},
    {"__init__", "commands", "pytest_plugin"},
)
"""Rooms from the ground up; those of one floor do not know each other.

Each kind of release is a room, `kinds` what they share: so `run` imports no kind.
"""

FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

FILES = sorted(
    path
    for folder in ("reference", "attacks", "verifiers")
    for path in (ROOT / folder).rglob("*.py")
)


def room(parts):
    """The room of a path or module, as parts from the repository's root."""
    if parts[0] != "verifiers":
        return parts[0]
    if parts[1:2] == ("kinds",) and (ROOT / "verifiers" / "kinds").joinpath(*parts[2:3]).is_dir():
        return parts[2] if len(parts) > 2 else "kinds"
    return parts[1] if len(parts) > 1 else "__init__"


def imported(path):
    """Modules of this project that a file imports, as parts."""
    here = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level]
            module = (*base, *(node.module.split(".") if node.module else ()))
            for name in node.names:
                deeper = ROOT.joinpath(*module, name.name)
                is_module = deeper.is_dir() or deeper.with_suffix(".py").exists()
                yield (*module, name.name) if is_module else module


@pytest.mark.slow("over half a second")
def test_imports_go_down() -> None:
    wrong = []
    for path in FILES:
        mine = room(path.relative_to(ROOT).with_suffix("").parts)
        for module in imported(path):
            theirs = room(module)
            if theirs != mine and FLOOR[theirs] >= FLOOR[mine]:
                wrong.append(f"{path.relative_to(ROOT)} imports {'.'.join(module)}")
    assert wrong == []


def test_the_map_has_the_floors_from_the_top_down() -> None:
    """Rooms of one row may stand on several floors; none stands above a row before."""
    table = (ROOT / "ARCHITECTURE.md").read_text().split("|---|---|\n")[1].split("\n\n")[0]
    named = [re.findall(r"`(\w+)(?:/|\.py)`", row.split("|")[1]) for row in table.splitlines()]
    rows = [[FLOOR[name] for name in names] for names in named]
    assert {name for names in named for name in names} == set(FLOOR) - {"reference", "attacks"}
    for above, below in pairwise(rows):
        assert min(above) >= max(below)


def test_every_room_has_a_floor_and_stands_in_the_map() -> None:
    """A new folder or file at the top must be placed, and told of."""
    rooms = {room(path.relative_to(ROOT).with_suffix("").parts) for path in FILES}
    assert rooms == set(FLOOR)
    told = (ROOT / "ARCHITECTURE.md").read_text()
    for name in rooms:
        assert f"{name}/" in told or f"{name}.py" in told or f"`{name}`" in told, name
