"""What every JSON document of dpassay is: a model, from which its published schema follows."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _without_hair(value: Any) -> Any:
    """A probability without what rounding leaves it above 1, or below 0."""
    near = isinstance(value, float) and -1e-9 < value < 1.0 + 1e-9
    return min(max(value, 0.0), 1.0) if near else value


Count = Annotated[int, Field(ge=0)]
Probability = Annotated[float, Field(ge=0.0, le=1.0), BeforeValidator(_without_hair)]


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
