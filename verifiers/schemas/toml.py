"""The JSON Schemas of what people write in TOML, a claim or a configuration, from their models."""

import json
from typing import Any, Literal

from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from ..cli.configuration import Configuration
from ..kinds import kinds

_MODE: Literal["validation"] = "validation"


class _TomlSchema(GenerateJsonSchema):
    """Of what stands in TOML, which has no null; without titles that repeat the names of keys."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> dict[str, Any]:
        """The schema of a value that is there."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        """The schema with its default, unless that is null."""
        found = super().default_schema(schema)
        return {k: v for k, v in found.items() if k != "default" or v is not None}

    def field_title_should_be_set(self, schema: Any) -> bool:
        """None is: it would be the name of the key."""
        return False


def claim_schema() -> dict[str, Any]:
    """A claim: the name of its mechanism says of which kind, and so what else it has.

    Branches are `if` and `then`, so that an editor tells what is wrong with this claim, and not
    that it is none of seven.
    """
    places, shared = models_json_schema(
        [(kind.claim_model, _MODE) for kind in kinds()], schema_generator=_TomlSchema
    )
    names = [name for kind in kinds() for name in kind.mechanisms]
    branches = [
        {"if": _of(list(kind.mechanisms)), "then": places[kind.claim_model, _MODE]}
        for kind in kinds()
    ]
    tables = shared["$defs"]
    pointed = json.dumps([branches, tables])  # values with texts of their own leave models behind
    return {
        "type": "object",
        **_of(names),
        "allOf": branches,
        "$defs": {name: table for name, table in tables.items() if f'/{name}"' in pointed},
    }


def configuration_schema() -> dict[str, Any]:
    """A dpassay.toml; its keys may be written with `_` in place of `-`, as those of claims are."""
    found = Configuration.model_json_schema(schema_generator=_TomlSchema)
    for table in found["$defs"].values():
        properties = table["properties"]
        properties |= {key.replace("-", "_"): value for key, value in properties.items()}
    return found


def _of(names: list[str]) -> dict[str, Any]:
    """What holds of a claim whose mechanism has one of these names."""
    name = {"type": "object", "required": ["name"], "properties": {"name": {"enum": names}}}
    return {"required": ["mechanism"], "properties": {"mechanism": name}}
