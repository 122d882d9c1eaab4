"""JSON that commands print, held to the published schemas."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema

from dpassay.verifiers.schemas import MODELS


def assert_published(command: str, text: str) -> None:
    """Asserts that a schema of the command knows all keys of the document, and holds.

    A number that is not finite is no JSON.
    """
    found = json.loads(text, parse_constant=_no_number)
    names = [name for name in MODELS if name.partition("-")[0] == command]
    known = [name for name in names if set(found) <= set(schema_of(name)["properties"])]
    assert known, f"no schema of {command} has the keys {sorted(found)}"
    complaints = {name: _complaints(name, found) for name in known}
    assert not all(complaints.values()), complaints


@cache
def schema_of(name: str) -> dict[str, Any]:
    """A published schema."""
    text = files("dpassay.verifiers.schemas").joinpath(f"{name}.json").read_text("utf-8")
    return dict(json.loads(text))


def _complaints(name: str, found: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(schema_of(name))
    return [error.message for error in validator.iter_errors(found)]


def _no_number(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")
