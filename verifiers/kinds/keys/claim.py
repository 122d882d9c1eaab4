"""What a deployment that releases keys says of itself, read from TOML and checked."""

from pathlib import Path
from typing import Any

from .. import kind_in
from ..kind import ReleaseKind
from ..numbers.claim import NumbersClaim
from .mechanism import KeysMechanism


class KeysClaim(NumbersClaim):
    """The claim of a deployment that releases the keys whose noisy counts pass a threshold."""

    mechanism: KeysMechanism

    @property
    def kind(self) -> ReleaseKind:
        return kind_in("keys")

    def _check_pure(self) -> None:
        raise ValueError(
            "privacy.delta = 0: a key that one unit alone has may be released, expected a delta "
            "above 0"
        )


def parse_keys_claim(
    table: dict[str, Any], source: str = "claim", folder: Path | None = None
) -> KeysClaim:
    """The claim in `table` (parsed TOML); folder: not needed. Raises ClaimError."""
    return KeysClaim.checked(table, source)
