"""Deployments with a plausible mistake, each in a few lines: `dpassay verify --demo broken`.

Beside each file FILE.py lies FILE.toml, its claim; the line with the mistake ends with `# !`.
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import Any

from ..targets import InProcessTarget
from ..targets.release import Release

_MARK = "  # !"


@dataclass(frozen=True)
class Broken:
    """A deployment that does not do what it claims.

    file: in this folder, without its ending; checks: those that a run has, all where none is
    named.
    """

    file: str
    checks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"dpassay/verifiers/demos/{self.file}.py"

    @property
    def claim(self) -> str:
        """What it is held to, as TOML."""
        return self._text("toml")

    @property
    def deployment(self) -> Any:
        """Its class."""
        return import_module(f".{self.file}", __package__).Deployment

    def target(self, release: Release) -> InProcessTarget:
        """The deployment, which a restart makes anew."""
        return InProcessTarget(self.deployment(), again=self.deployment, release=release)

    @property
    def shown(self) -> str:
        """Its lines from the class on, `>` before the one with the mistake."""
        source = self._text("py")
        lines = enumerate(source.splitlines(), 1)
        first = source[: source.index("class ")].count("\n")
        return "\n".join(
            f"{'>' if line.endswith(_MARK) else ' '} {number:2} {line.removesuffix(_MARK)}".rstrip()
            for number, line in lines
            if number > first
        )

    def _text(self, ending: str) -> str:
        return files(__package__).joinpath(f"{self.file}.{ending}").read_text("utf-8")


BROKEN = {
    "broken": Broken("broken"),
    "broken-histogram": Broken("broken_histogram"),
    "broken-table": Broken("broken_table"),
    "broken-tally": Broken("broken_tally"),
    "broken-budget": Broken("broken_budget", ("budget-enforcement",)),
}
"""By the names that `--demo` takes."""
