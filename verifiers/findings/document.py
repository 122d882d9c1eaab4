"""What every JSON document of dpassay is: a model, from which its published schema follows."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    """A document, or a part of one: its fields are the names of the JSON object.

    A key may be added in later versions, and none is renamed or removed.
    """

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    def public(self) -> dict[str, Any]:
        """The JSON object: of lists, strings, finite numbers and null."""
        return self.model_dump(mode="json")


class VariedDocument(Document):
    """A document of which some keys are left out: those that were not given."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    def public(self) -> dict[str, Any]:
        """The JSON object, of the keys that were given."""
        return self.model_dump(mode="json", exclude_unset=True)
