"""One run of the gate on a service."""

from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify

from ..zoo.kind import outcome
from .entries import ENTRIES
from .noises import CLASSES, SCALE
from .serving import serving

MECHANISM = {"name": "gnmax", "noise": f"gaussian:{SCALE:g}", "classes": CLASSES, "teachers": 250}
AT_ONCE = 8


def assayed(seed: int, name: str, queries: int) -> dict[str, object]:
    """The outcome of a service, as a table of JSON; queries: 0 for those of the defaults."""
    with serving(ENTRIES[name]) as (address, restart):
        gate = {"concurrency": AT_ONCE, "restart": restart}
        claim = parse_claim({"mechanism": MECHANISM, "gate": gate})
        target = open_claimed(address, claim)
        try:
            report = verify(target, claim, seed=seed, queries=queries or None)
        finally:
            target.close()
    return outcome(report, ("fail", "error"))
