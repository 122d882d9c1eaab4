"""The table of codes: every finding, warning and reason of a report has one of them.

`codes.toml` is the table. The anchors of the site are made from it, and tests hold it to the
sources that raise codes. A sentence may change from version to version, a code may not.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, cast, get_args

CodeClass = Literal["defect", "power", "coverage", "leakage", "input"]
Severity = Literal["breaks-privacy", "weakens-privacy", "breaks-contract"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The gravest first."""


@dataclass(frozen=True)
class Code:
    """One code.

    Attributes:
        what: `defect` (the deployment, or its claim, is wrong), `power` (too little was seen),
            `coverage` (something could not be looked at), `leakage` (what an attacker reads
            although the claim holds), or `input` (what dpassay was given).
        severity: of a defect.
        proof: whether it is certain where it is raised, not a statistic with a share of
            `false_alarm`.
        checks: whose pages have its anchor, none where it is on that of all codes.
        kinds: on which kinds of release a run may find it, None for all that have one of these
            checks.
        needs: a key without which a claim leaves no room for it.
        title: a few words.
        sentence: for whoever meets it first.
    """

    id: str
    what: CodeClass
    checks: tuple[str, ...]
    title: str
    sentence: str
    severity: Severity | None = None
    proof: bool = False
    kinds: tuple[str, ...] | None = None
    needs: str | None = None

    @property
    def gravity(self) -> int:
        """Place among codes by severity, 0 for the gravest; last of all what is no defect."""
        return len(SEVERITIES) if self.severity is None else SEVERITIES.index(self.severity)


@cache
def codes() -> dict[str, Code]:
    """All codes, by id, in the order of the table."""
    table = tomllib.loads(files(__package__).joinpath("codes.toml").read_text("utf-8"))
    return {
        name: Code(
            name,
            cast(CodeClass, row["class"]),
            tuple(row.get("checks", ())),
            row["title"],
            row["sentence"],
            row.get("severity"),
            row.get("proof", False),
            tuple(row["kinds"]) if "kinds" in row else None,
            row.get("needs"),
        )
        for name, row in table.items()
    }
