"""The rows of the map, by source, as `rows/*.toml` have them."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "rows"
ORDER = (
    "wang2022",
    "papernot2017",
    "papernot2018",
    "chadha2024",
    "li2024",
    "lecture2021",
)


@dataclass(frozen=True)
class Row:
    """A theorem, definition, algorithm, figure or table, and what the project does with it.

    item: where it stands; says: what it says, in a few words; here: what does it in the project;
    run: a command that shows it, empty where `apart` says why none does; takes: how long that is,
    where it is more than a few seconds; status: with which it ends; theirs: their figure;
    ours: ours, with references as `figures.filled` and `shown` read them; apart: where it does not
    come out, or why it is not here; differs: the source and the project disagree, which the index
    tells.
    """

    item: str
    says: str
    here: str = ""
    run: str = ""
    takes: str = ""
    status: int = 0
    theirs: str = ""
    ours: str = ""
    apart: str = ""
    differs: bool = False

    @property
    def is_here(self) -> bool:
        """Whether the project does something with it."""
        return not self.apart.startswith("not here")


@dataclass(frozen=True)
class Source:
    """A paper or lecture, its place, its rows in its own order, and what holds for all of them."""

    key: str
    name: str
    title: str
    address: str
    rows: tuple[Row, ...]
    note: str = ""


def sources() -> list[Source]:
    """All sources, in the order of the map."""
    found = []
    for key in ORDER:
        table = tomllib.loads((FOLDER / f"{key}.toml").read_text())
        rows = tuple(Row(**row) for row in table["row"])
        name, title, address = table["name"], table["title"], table["address"]
        found.append(Source(key, name, title, address, rows, table.get("note", "")))
    return found
