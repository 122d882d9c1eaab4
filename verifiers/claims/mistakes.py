"""What is wrong with a claim, one line per mistake."""

import re
from collections.abc import Sequence
from typing import get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ..inputs.input_error import InputError
from ..targets.replies import one_line, shown_repr
from ..text import did_you_mean, nearest

_MOST_TOLD = 10
"""Most mistakes of one claim that are shown."""


def are_missing(keys: list[str]) -> str:
    """A sentence that names the keys that a table lacks."""
    if len(keys) == 1:
        return f"{keys[0]} is missing"
    return f"{', '.join(keys[:-1])} and {keys[-1]} are missing"


def mistakes(error: ValidationError, root: type[BaseModel]) -> list[tuple[str, str | None]]:
    """One line per mistake, and its code; root: the model that was validated.

    Mistyped keys come first. A last line, without a code, counts those that are not shown.
    """
    found = error.errors()
    unknown = [e for e in found if e["type"] == "extra_forbidden"]
    meant = {(*e["loc"][:-1], _meant(root, e)) for e in unknown}
    lacking = [e["loc"] for e in found if e["type"] == "missing" and e["loc"] not in meant]
    lines: list[tuple[str, str | None]] = [(_unknown_key(root, e), _code(e)) for e in unknown]
    named = set()
    for each in found:
        table = each["loc"][:-1]
        if each["type"] == "missing" and each["loc"] in lacking and table not in named:
            named.add(table)
            missing = [".".join(map(str, loc)) for loc in lacking if loc[:-1] == table]
            lines.append((are_missing(missing), _code(each)))
        elif each["type"] not in ("missing", "extra_forbidden"):
            lines.append((_wrong_value(root, each), _code(each)))
    more = len(lines) - _MOST_TOLD
    if more > 0:
        lines[_MOST_TOLD:] = [(f"mistakes that are not shown: {more:,}", None)]
    return lines


_CODES = {"extra_forbidden": "unknown-key", "missing": "missing-key"}


def _code(mistake: ErrorDetails) -> str:
    """The code of a mistake: that of our own error, or of keys where a whole table is refused."""
    raised = mistake.get("ctx", {}).get("error")
    if isinstance(raised, InputError):
        return raised.code
    if mistake["type"] == "value_error" and isinstance(mistake["input"], dict):
        return "keys-do-not-fit"
    return _CODES.get(mistake["type"], InputError.code)


def _table_at(root: type[BaseModel], place: Sequence[int | str]) -> type[BaseModel] | None:
    """The model of the table at `place`, a path of keys; None where there is none."""
    table, named = root, False
    for part in place:
        if isinstance(part, int) or named:  # of a list of tables, or of tables by names
            named = False
            continue
        field = table.model_fields.get(str(part))
        kinds = [] if field is None else [field.annotation, *get_args(field.annotation)]
        named = field is not None and get_origin(field.annotation) is dict
        tables = [k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)]
        if not tables:
            return None
        table = tables[0]
    return table


def _keys(root: type[BaseModel], mistake: ErrorDetails) -> list[str]:
    """The known keys of the table in which a mistake was made."""
    table = _table_at(root, mistake["loc"][:-1])
    fields = {} if table is None else table.model_fields
    return [field.alias or name for name, field in fields.items()]


_ELSEWHERE = {
    "sigma": "noise",
    "scale": "noise",
    "noise_multiplier": "noise",
    "noise_scale": "noise",
    "max_grad_norm": "clip_norm",
    "l2_norm_clip": "clip_norm",
    "steps": "queries",
    "num_queries": "queries",
    "num_classes": "classes",
    "num_teachers": "teachers",
}
"""Keys as papers and training libraries call them."""


def _meant(root: type[BaseModel], mistake: ErrorDetails) -> str | None:
    """The known key that an unknown one stands for, or resembles, if any."""
    given, keys = str(mistake["loc"][-1]), _keys(root, mistake)
    if _ELSEWHERE.get(given.lower()) in keys:
        return _ELSEWHERE[given.lower()]
    return nearest(given, keys)


def _likely(root: type[BaseModel], mistake: ErrorDetails) -> str | None:
    """What was probably meant by an unknown key, as it is written in a claim."""
    near, given = _meant(root, mistake), mistake["input"]
    if near != "noise" or not isinstance(given, int | float):
        return near
    family = "FAMILY" if str(mistake["loc"][-1]).lower().endswith("scale") else "gaussian"
    return f'noise = "{family}:{given:g}"'


def _table_of(root: type[BaseModel], key: str) -> str | None:
    """The table of a claim that has a key; None where none has, or where several do."""
    fields = root.model_fields.items()
    single = [name for name, field in fields if get_origin(field.annotation) is not dict]
    tables = {name: _table_at(root, [name]) for name in single}
    found = [name for name, table in tables.items() if table and key in table.model_fields]
    return found[0] if len(found) == 1 else None


def _place(mistake: ErrorDetails) -> str:
    return one_line(".".join(str(part) for part in mistake["loc"]))


def _unknown_key(root: type[BaseModel], mistake: ErrorDetails) -> str:
    near, keys, key = _likely(root, mistake), _keys(root, mistake), str(mistake["loc"][-1])
    meant = f" (did you mean {near}?)" if near else ""
    if mistake["loc"] == ("gate", "queries"):  # of [privacy], where they are what is promised
        meant = " (did you mean max_queries, or the option --queries?)"
    elif len(mistake["loc"]) <= 2 and (table := _table_of(root, key)):
        meant = f" (it belongs to [{table}])"
    elsewhere = _ELSEWHERE.get(key.lower(), "")
    if not meant and (table := _table_of(root, elsewhere)):
        meant = f" (did you mean {elsewhere} of [{table}]?)"
    allowed = f": allowed are {', '.join(keys)}" if keys else ""
    return f"{_place(mistake)} is no known key{meant}{allowed}"


def _wrong_value(root: type[BaseModel], mistake: ErrorDetails) -> str:
    place, kind, given = _place(mistake), mistake["type"], mistake["input"]
    if mistake["loc"][-1:] == ("[key]",):  # as pydantic names a key that is refused
        place = one_line(".".join(map(str, mistake["loc"][:-1])))
        allowed = mistake.get("ctx", {}).get("expected")
        wrong = one_line(mistake["msg"]) if allowed is None else _one_of(allowed, given)
        return f"{place} is no known key: {wrong[:1].lower()}{wrong[1:]}"
    message = one_line(mistake["msg"].removeprefix("Value error, "))
    if kind == "model_type":
        return f"{place} = {shown_repr(given)}: expected a table, [{place}]"
    if isinstance(given, dict | str) and kind == "value_error":
        # our own messages show the value themselves, and of a whole claim the place too
        return f"{place}: {message}" if place else message
    if kind == "literal_error":
        return f"{place} = {shown_repr(given)}: {_one_of(mistake['ctx']['expected'], given)}"
    expected = _expected(root, mistake["loc"]) or f"{message[:1].lower()}{message[1:]}"
    return f"{place} = {shown_repr(given)}: {expected}"


def _one_of(expected: str, given: object) -> str:
    """The allowed values, as pydantic lists them, with the one that was probably meant."""
    allowed = re.findall("'[^']*'", expected)
    meant = did_you_mean(repr(given), allowed) if isinstance(given, str) else ""
    return f"expected {expected}{meant}"


_KINDS = {int: "a whole number", float: "a finite number", bool: "true or false", str: "a text"}
_BOUNDS = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}


def _expected(root: type[BaseModel], place: tuple[int | str, ...]) -> str | None:
    """The type of a key and its bounds, in words; None where pydantic's message serves."""
    first = root.model_fields.get(str(place[0])) if place else None
    by_name = first is not None and get_origin(first.annotation) is dict
    table = _table_at(root, place[:-1]) if len(place) == 2 + by_name else None
    fields = {} if table is None else table.model_fields
    field = next((f for name, f in fields.items() if place[-1] in (name, f.alias)), None)
    kinds = [kind for kind in _KINDS if field and field.annotation in (kind, kind | None)]
    if field is None or not kinds:
        return None
    bounds = [
        f"{word} {getattr(limit, name):g}"
        for limit in field.metadata
        for name, word in _BOUNDS.items()
        if getattr(limit, name, None) is not None
    ]
    return " ".join(["expected", _KINDS[kinds[0]], *bounds])
