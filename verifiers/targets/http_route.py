"""A deployment's own route: its path, the body of a request, and where the answer stands."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...reference import REFUSAL
from .replies import CallError, NotOffered, Refused, one_line, shown, shown_bytes

_PLACE = re.compile(r"\{\{\s*(\w*)\s*\}\}")
_INDEX = re.compile(r"0|[1-9][0-9]*")


@dataclass(frozen=True)
class HttpRoute:
    """Where and how releases are asked, in place of `POST /aggregate` and its JSON.

    Attributes:
        path: of the URL.
        body: JSON in which `{{size}}`, and the key of the input (`Release.key`) in such braces,
            stand for values.
        answer: a JSON Pointer (RFC 6901) to the answer, or to the list of answers. None stands for
            what dpassay asks otherwise. Without `{{size}}` each release is a request. rdp, spent:
            paths of the accountant and the ledger, without which a server with a path of its own is
            not asked for them. labels: what stands for the classes in an answer, in their order.
        refusals: as JSON, what stands there for a refusal.
    """

    path: str | None = None
    body: str | None = None
    answer: str | None = None
    rdp: str | None = None
    spent: str | None = None
    labels: tuple[str | int, ...] = ()
    refusals: tuple[str, ...] = ()

    def path_of(self, call: Literal["rdp", "spent"]) -> str:
        """Where a call that a server may lack is asked. Raises NotOffered."""
        named = self.rdp if call == "rdp" else self.spent
        if named is None and self.path is not None:
            raise NotOffered(
                f'the claim names no path for it: add {call} = "/..." beside path in [http]'
            )
        return named or f"/{call}"

    def calls(self, size: int) -> list[int]:
        """Releases of each request, for `size` in all."""
        alone = self.body is not None and "size" not in template_keys(self.body)
        return [1] * size if alone else [size]

    def content(self, content: Mapping[str, Any]) -> Any:
        """The JSON of a request with this input and size."""
        if self.body is None:
            return dict(content)
        return fill_template(self.body, content)

    @staticmethod
    def answers(found: Any, size: int, *, are_labels: bool) -> Any:
        """The list of answers to a request for `size` releases, where one may stand by itself."""
        if size != 1:
            return found
        listed = isinstance(found, list)
        if not are_labels:  # a release is a list itself
            listed = listed and bool(found) and isinstance(found[0], list)
        return found if listed else [found]

    def numbered(self, found: Any, call: str, *, refuses: bool) -> Any:
        """The answers to a request with their classes as numbers, and refused queries as -1.

        refuses: whether the mechanism refuses queries; a refusal is of the input otherwise. Raises
        Refused, and TargetError for what is no class; call: as messages name it.
        """
        if not self.labels and not self.refusals:
            return found
        if not isinstance(found, list):
            if as_json(found) in self.refusals:
                raise Refused(f"answered {as_json(found)}")
            return found
        known: dict[str, Any] = {as_json(name): place for place, name in enumerate(self.labels)}
        known |= dict.fromkeys(self.refusals, REFUSAL)
        numbers = []
        for place, answer in enumerate(found):
            text = as_json(answer)
            if text in self.refusals and not refuses:
                raise Refused(f"answered {text}")
            if text not in known and self.labels:
                names = ", ".join(map(as_json, self.labels))
                wanted = f"expected one of {shown(names)} (http.labels)"
                raise CallError(call, f"returned {shown(text)} at place {place}: {wanted}")
            numbers.append(known.get(text, answer))
        return numbers

    def found(self, body: bytes, call: str) -> Any:
        """What `answer` points to in a reply. Raises TargetError; call: as messages name it."""
        assert self.answer is not None
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            raise CallError(call, f"returned {shown_bytes(body)}: expected JSON") from None
        for step in pointer_steps(self.answer):
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
                value = value[int(step)]
            else:
                wanted = f"nothing stands at {self.answer} (http.answer)"
                raise CallError(call, f"returned {shown_bytes(body)}: {wanted}")
        return value


def as_json(value: Any) -> str:
    """A value as JSON, in which equal ones are equal."""
    return json.dumps(value, sort_keys=True)


def pointer_steps(pointer: str) -> list[str]:
    """The steps of a JSON Pointer. Raises ValueError of one line."""
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{shown(pointer)}: expected a JSON Pointer such as /result/label")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def fill_template(template: str, content: Mapping[str, Any]) -> Any:
    """The JSON of a template with values in its places. Raises ValueError of one line."""
    found = [name for name in template_keys(template) if name not in content]
    if found:
        allowed = " or ".join(f"{{{{{name}}}}}" for name in content)
        raise ValueError(f"body: {{{{{found[0]}}}}}: expected {allowed}")
    written = _PLACE.sub(lambda place: json.dumps(content[place[1]]), template)
    try:
        return json.loads(written)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"body: with values in its places it is not JSON ({one_line(error)}): a place such as "
            "{{query}} stands outside of quotes"
        ) from None


def template_keys(template: str) -> list[str]:
    """What stands in the places of a template, such as histogram and size."""
    return _PLACE.findall(template)


def check_template(template: str, key: str) -> None:
    """Raises ValueError of one line for a template that does not hold the input, of this key."""
    fill_template(template, {key: [1, 2], "size": 1})
    if key not in template_keys(template):
        raise ValueError(f"body = {shown(template)}: expected the input in it, {{{{{key}}}}}")


PROTOCOL = HttpRoute()
"""The route of dpassay's own protocol."""
