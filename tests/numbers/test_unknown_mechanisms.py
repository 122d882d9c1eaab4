"""A claim of a mechanism that does not exist is told all that do."""

import pytest

from dpassay.verifiers.claim import OF_LABELS, OF_NUMBERS, ClaimError
from dpassay.verifiers.numbers.either import parse_any_claim


@pytest.mark.parametrize("name", ["noisy-counts", "nosuch", "GNMax"])
def test_a_mistyped_mechanism_is_one_line_that_names_all(name: str) -> None:
    """It was taken for labels: "expected gnmax or lnmax, classes and teachers are missing"."""
    table = {"mechanism": {"name": name, "noise": "laplace:2", "adjacency": "add-remove"}}
    with pytest.raises(ClaimError) as error:
        parse_any_claim(table, "claim.toml")
    told = str(error.value)
    assert told.startswith(f"claim.toml: mechanism.name = '{name}': ")
    assert "\n" not in told
    assert all(known in told for known in (*OF_LABELS, *OF_NUMBERS))
    assert ("did you mean noisy-count?" in told) == (name == "noisy-counts")
