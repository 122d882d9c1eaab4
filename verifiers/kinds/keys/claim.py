"""What a deployment that releases keys says of itself, read from TOML and checked."""

from ..numbers.claim import NumbersClaim
from .mechanism import KeysMechanism


class KeysClaim(NumbersClaim):
    """The claim of a deployment that releases the keys whose noisy counts pass a threshold."""

    mechanism: KeysMechanism

    def _check_pure(self) -> None:
        raise ValueError(
            "privacy.delta = 0: a key that one unit alone has may be released, expected a delta "
            "above 0"
        )
