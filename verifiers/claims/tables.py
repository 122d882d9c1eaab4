"""The tables that every claim has as pydantic models, which check every key as it is read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    field_validator,
    model_validator,
)

from ..inputs.files import found_from
from ..targets.http_options import HttpOptions, HttpTls
from ..targets.http_route import HttpRoute, as_json, pointer_steps
from ..targets.replies import shown, shown_spec
from ..targets.restart_command import command_words
from ..targets.spec import is_python_spec, split_spec

MOST_EPSILON = 10_000.0
"""Largest epsilon of a claim; a tenth of it already allows releases without noise."""

MOST_ORDER = 1e6
"""Highest Rényi order of an accountant."""

MOST_SECONDS, MOST_RUN_SECONDS = 86_400.0, 604_800.0
"""Longest timeout of a call (a day) and of a run (a week)."""

MOST_AT_ONCE = 64
"""Most calls in flight."""


HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]


def _variable(name: str) -> str:
    if not (name.isascii() and name.isidentifier()):  # not shown: it may be a secret
        raise ValueError("expected the name of an environment variable that holds the value")
    return name


Variable = Annotated[str, AfterValidator(_variable)]


def _status_of_refusal(status: int) -> int:
    if not (200 < status < 300 or 400 <= status < 500) or status == 429:
        raise ValueError("expected statuses from 400 to 499 but 429, or from 201 to 299")
    return status


def _as_json(text: str) -> str:
    try:
        return as_json(json.loads(text))
    except (ValueError, RecursionError):
        raise ValueError(
            f"{shown(text)}: expected JSON, such as 'null', '-1' or '\"none\"'"
        ) from None


def _class_name(name: Any) -> Any:
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise ValueError("expected a text or a whole number for each class")
    return name


def _command(text: str) -> str:
    command_words(text)
    return text


Command = Annotated[str, AfterValidator(_command)]
Status = Annotated[int, AfterValidator(_status_of_refusal)]
UrlPath = Annotated[str, Field(pattern=r"^/[^\s?#]*$")]
SpecText = Annotated[str, PlainSerializer(shown_spec)]
"""A target's spec, which reports show without credentials."""


def spec_from(spec: str, folder: Path | None) -> str:
    """A target's spec, its file as it is found from the working directory, or else in a folder."""
    if not is_python_spec(spec):
        return spec
    module, attribute = split_spec(spec)
    return f"{found_from(module, folder)}:{attribute}"


class Table(BaseModel):
    """A table of a claim, in which unknown keys and wrong types are mistakes."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, arbitrary_types_allowed=True
    )


def add_aliases(schema: dict[str, Any], aliases: Mapping[str, str]) -> None:
    """Adds to the JSON Schema of a table the keys that stand for others: alias -> key."""
    keys = schema["properties"]
    keys |= {alias: keys[key] for alias, key in aliases.items()}


Refuses = Annotated[str | None, Field(min_length=1, max_length=200)]
"""`refuses` of `[mechanism]`: which sizes are refused, in words, where the size is public."""


Fitted = bool | None
"""`fitted` of `[mechanism]`: whether values were fitted to the deployment, which proves nothing."""


def check_refuses(refuses: str | None, adjacency: str) -> None:
    """Raises ValueError for a rule of sizes that are not public: a refusal tells of a record."""
    if refuses is not None and adjacency != "replace-one":
        raise ValueError(
            f"refuses = {json.dumps(refuses[:60])}: sizes are public under adjacency = "
            f'"replace-one" alone; under "{adjacency}" a refusal by size tells of a record'
        )


ANY_QUERIES = "any-queries"
"""The scope of a privacy claim that holds for any queries."""


class PrivacyClaim(Table):
    """`[privacy]`: the (epsilon, delta) claimed for a number of queries."""

    epsilon: float = Field(gt=0, le=MOST_EPSILON)
    delta: float = Field(gt=0, lt=1)
    queries: int = Field(ge=1, le=10**12)
    scope: str = ANY_QUERIES


def _range_of_orders(given: Any) -> Any:
    two = isinstance(given, list | tuple) and [type(x) in (int, float) for x in given] == [True] * 2
    if not two or not 1 < given[0] <= given[1] <= MOST_ORDER:
        raise ValueError(
            f"expected the lowest and the highest order, above 1 and up to {MOST_ORDER:,.0f}"
        )
    return float(given[0]), float(given[1])


class AccountantClaim(Table):
    """`[accountant]`: what the deployment's own accountant serves."""

    orders: Annotated[tuple[float, float] | None, BeforeValidator(_range_of_orders)] = None


class Gate(Table):
    """`[gate]`: the error rate, precision and limits of a run."""

    false_alarm: float = Field(default=1e-6, gt=0, le=0.5)
    tolerance: float = Field(default=0.05, ge=1e-3, lt=1)
    smallest_effect: float = Field(default=0.02, ge=1e-3, lt=1)
    max_queries: int = Field(default=200_000, ge=1)
    max_recoverable: float = Field(default=0.0, ge=0, le=1)
    timeout: float = Field(default=30.0, gt=0, le=MOST_SECONDS)
    run_timeout: float | None = Field(default=None, gt=0, le=MOST_RUN_SECONDS)
    largest_call: int | None = Field(default=None, ge=1)
    concurrency: int = Field(default=1, ge=1, le=MOST_AT_ONCE)
    restart: Command | None = None
    fresh_state: Command | None = None
    lifetime: Literal["forever", "run"] = "forever"
    budget_target: SpecText | None = None
    paths: bool | None = None
    source: SpecText | None = None
    redact: bool = False
    least: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    require: list[str] = Field(default_factory=list)
    strict: bool = False
    fail_on: list[str] = Field(default_factory=list)
    allow: list[str] = Field(default_factory=list)
    _folder: Path | None = PrivateAttr(default=None)

    def __hash__(self) -> int:
        """Hashable, since plans are kept by their claim."""
        return hash(self.model_dump_json())

    def lie_in(self, folder: Path | None) -> None:
        """A source that is not there from the working directory is looked for in this folder."""
        self._folder = folder

    @property
    def source_spec(self) -> str | None:
        """`source`, its file as it is found from the working directory."""
        return None if self.source is None else spec_from(self.source, self._folder)

    @property
    def for_one_run(self) -> bool:
        """Whether a budget lives for one run of a batch job, and begins anew with the next."""
        return self.lifetime == "run"

    @field_validator("source")
    @classmethod
    def _python(cls, source: str | None) -> str | None:
        if source is not None and not is_python_spec(source):
            raise ValueError(
                f"{shown_spec(source)}: expected path/to/file.py:attr or package.module:attr, the "
                "Python source of what a server or a program runs"
            )
        return source


class HttpClaim(Table):
    """`[http]`: options of requests to a server."""

    headers: dict[HeaderName, Variable] = Field(default_factory=dict)
    refusal_status: list[Status] = Field(default_factory=lambda: [422])
    refusal_answers: list[Annotated[str, AfterValidator(_as_json)]] = Field(default_factory=list)
    labels: list[Annotated[Any, AfterValidator(_class_name)]] = Field(default_factory=list)
    retry_503: bool = False
    retry_429: bool = False
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    path: UrlPath | None = None
    body: str | None = None
    answer: str | None = None
    rdp: UrlPath | None = None
    spent: UrlPath | None = None
    _folder: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.key is not None and self.certificate is None:
            raise ValueError("key: it goes with certificate, which is missing")
        known = [as_json(name) for name in self.labels] + self.refusal_answers
        twice = next((text for text in known if known.count(text) > 1), None)
        if twice is not None:
            raise ValueError(f"labels and refusal_answers: {shown(twice)} stands there twice")
        return self

    def lie_in(self, folder: Path | None) -> None:
        """Files that are not there from the working directory are looked for in this folder."""
        self._folder = folder

    @field_validator("answer")
    @classmethod
    def _pointer(cls, answer: str | None) -> str | None:
        if answer is not None:
            pointer_steps(answer)
        return answer

    def __hash__(self) -> int:
        """Hashable, since plans are kept by their claim."""
        return hash(self.model_dump_json())

    @property
    def route(self) -> HttpRoute:
        """The route of the deployment's own, or that of dpassay's protocol."""
        return HttpRoute(
            self.path,
            self.body,
            self.answer,
            self.rdp,
            self.spent,
            tuple(self.labels),
            tuple(self.refusal_answers),
        )

    def options(self, *, refuses: bool) -> HttpOptions:
        """Options of requests; refuses: whether the claimed mechanism refuses queries."""
        return HttpOptions(
            headers=self.headers,
            refusal_status=tuple(self.refusal_status),
            refuses=refuses,
            retry_503=self.retry_503,
            retry_429=self.retry_429,
            route=self.route,
            tls=self.tls,
        )

    @property
    def tls(self) -> HttpTls:
        """Files of certificates."""
        given = (self.ca, self.certificate, self.key)
        return HttpTls(*(None if one is None else found_from(one, self._folder) for one in given))
