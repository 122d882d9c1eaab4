"""What the zoos of numbers, tables, tallies and batches say of each deployment."""

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import InProcessTarget

Rng = np.random.Generator


@dataclass(frozen=True)
class Entry:
    """A deployment and its claim.

    claim_text: the claim as TOML; make: what answers, of the parsed claim and the generator of its
    noise; caught: checks of which one must fail, none where it is correct; code: of the cause that
    one of them tells, empty where several explain it; fields: some of what is told of it; source:
    where it was seen in public; like: the correct entry that looks like this broken one; within:
    queries after which it is found in all runs, 0 where nobody has looked.
    """

    name: str
    claim_text: str
    make: Callable[[Any, Rng], Any]
    caught: tuple[str, ...] = ()
    code: str = ""
    fields: Mapping[str, str | float] = field(default_factory=dict)
    source: str = ""
    like: str = ""
    within: int = 0

    @property
    def claim(self) -> Any:
        """Parsed; of its kind."""
        return parse_claim(tomllib.loads(self.claim_text))

    def made(self, rng: Rng) -> Any:
        """What answers, with state of its own."""
        return self.make(self.claim, rng)

    def target(self, *seed: int) -> InProcessTarget:
        """The same, as the gate asks it; restarted by its own `again`, where it has one."""
        made = self.made(np.random.default_rng(seed))
        return InProcessTarget(made, again=getattr(made, "again", None), release=self.claim.release)

    def tells(self, code: str | None, fields: Mapping[str, Any]) -> bool:
        """Whether a finding has this code, and the fields of it that are known.

        Or names it beside the likeliest cause, as one that explains what was seen nearly as well.
        """
        if not self.code:
            return True
        causes = ((code, ""), (fields.get("nearly"), "nearly_"))
        return any(
            named == self.code
            and all(_alike(fields.get(begin + name), one) for name, one in self.fields.items())
            for named, begin in causes
        )


def _alike(found: Any, known: str | float) -> bool:
    if isinstance(known, str) or not isinstance(found, int | float):
        return bool(found == known)
    return math.isclose(found, known, rel_tol=1e-6)
