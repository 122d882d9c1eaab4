"""The published schemas are those of the models; documents are held to them by `typed`."""

import json
from importlib.resources import files

import jsonschema
import pytest
from documents import assert_published, schema_of

from dpassay.verifiers.schemas import MODELS, NAMES, schema_text


def test_what_is_published_follows_from_the_models() -> None:
    """Catches a field that changed, and a file that nobody wrote anew."""
    folder = files("dpassay.verifiers.schemas")
    kept = {name: folder.joinpath(f"{name}.json").read_text("utf-8") for name in NAMES}
    assert [name for name in NAMES if kept[name] != schema_text(name)] == [], (
        "write them anew: python -m dpassay.verifiers.schemas verifiers/schemas"
    )


@pytest.mark.slow("over half a second")
def test_it_is_a_schema_with_a_name_and_a_version() -> None:
    versions = {"claim": 1} | {name: version for name, (version, _) in MODELS.items()}
    for name, version in versions.items():
        found = schema_of(name)
        jsonschema.Draft202012Validator.check_schema(found)
        assert found["$id"] == f"urn:dpassay:{name}:{version}"


RIGHT = {"probabilities": ["0.5", "0.5"], "log": [-0.69, -0.69]}


@pytest.mark.parametrize(
    "wrong",
    [
        RIGHT | {"digits": 12},
        {"log": [-0.69]},
        RIGHT | {"log": ["-0.69"]},
        RIGHT | {"log": [float("nan")]},
    ],
)
def test_a_document_of_another_form_is_noticed(wrong) -> None:
    """Catches a comparison that holds for anything."""
    assert_published("probabilities", json.dumps(RIGHT))
    with pytest.raises(AssertionError):
        assert_published("probabilities", json.dumps(wrong))
