"""`[log]` of a claim on labels, as a pydantic model."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ...claims.tables import Table
from ...inputs.log_names import PLAIN, LogNames, lower
from ...inputs.release_log import ABOUT
from ...targets.replies import shown_repr

_WHOLE_AS_TEXT = BeforeValidator(lambda name: str(name) if type(name) is int else name)
_AS_LIST = BeforeValidator(lambda names: names if isinstance(names, list) else [names])


def _columns(names: Any) -> Any:
    listed = isinstance(names, list) and len(names) > 1
    if not all(isinstance(name, str) and name for name in (names if listed else [names])):
        raise ValueError(
            'expected the columns of votes in the order of the classes, as ["votes_cat", '
            '"votes_dog"], or the key of a list of them'
        )
    return names


ColumnName = Annotated[str, Field(min_length=1)]
Columns = Annotated[str | list[str], BeforeValidator(_columns)]
_OWN = ("histogram", "label", *ABOUT)

LabelText = Annotated[str, _WHOLE_AS_TEXT]


class LogClaim(Table):
    """`[log]`: what a recorded log of the deployment holds, and what it calls it."""

    refusals: Literal["logged", "left-out"] = "logged"
    label: ColumnName | None = None
    histogram: Columns | None = None
    labels: Annotated[list[LabelText], Field(min_length=2)] | None = None
    refusal_labels: Annotated[list[LabelText], Field(min_length=1), _AS_LIST] | None = None
    id: ColumnName | None = None
    time: ColumnName | None = None
    worker: ColumnName | None = None
    call: ColumnName | None = None
    client: ColumnName | None = None
    charged: ColumnName | None = None
    columns: Annotated[list[ColumnName], Field(min_length=1, max_length=20)] | None = None

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        named = [
            *self.names.columns.items(),
            *(("histogram", name) for name in self.votes),
            *(("columns", name) for name in self.columns or ()),
        ]
        keys: dict[str, str] = {}
        for key, name in named:
            if lower(name) in keys:
                other = keys[lower(name)]
                raise ValueError(
                    f"{key} = {shown_repr(name)}: {other} names that column too: expected each once"
                )
            keys[lower(name)] = key
        own = {name for name in _OWN if getattr(self, name) is None}
        taken = next((name for name in self.columns or () if lower(name) in own), None)
        if taken is not None:
            raise ValueError(
                f"columns: {shown_repr(taken)} is read by itself: expected further columns, known "
                "before the noise was drawn"
            )
        marks = [*(self.labels or ()), *(self.refusal_labels or ())]
        twice = next((name for name in marks if marks.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"labels and refusal_labels: {shown_repr(twice)} stands there twice")
        return self

    @property
    def votes(self) -> tuple[str, ...]:
        """The columns of votes, by class; none where it names none, or one key for all."""
        return tuple(self.histogram) if isinstance(self.histogram, list) else ()

    @property
    def names(self) -> LogNames:
        """What a reader of the log needs to know."""
        given = {name: getattr(self, name) for name in _OWN}
        columns = {name: value for name, value in given.items() if isinstance(value, str)}
        labels, refusals = self.labels or (), self.refusal_labels or ()
        found = LogNames(
            columns, self.votes, tuple(labels), tuple(refusals), tuple(self.columns or ())
        )
        return PLAIN if found == PLAIN else found
