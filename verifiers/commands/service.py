"""The reference aggregator as an HTTP target: the application of `dpassay serve`."""

import asyncio
import json
from collections.abc import Iterator, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ...reference import BudgetExhausted
from ..kinds.served import Served
from ..targets import NotOffered
from ..targets.replies import one_line, shown

LARGEST_SIZE = 1_000_000
_MOST_ORDERS = 1000
_DRAWS = 1 << 16  # noise draws between two requests


def application(served: Served) -> Starlette:
    """The ASGI application of an HTTP target that conforms to the claim of `served`.

    Large requests yield to others every few milliseconds. Mistakes are answered with
    {"error": one line}: status 422 for the content, 413 for the length, and 429 where the budget of
    the claim is spent.
    """

    async def aggregate(request: Request) -> Response:
        content = await _content(request, {served.takes, "size"}, served.body_bytes)
        values, size = served.input(content[served.takes]), _size(content["size"])
        with served.reserved(size):
            releases, texts = [], []
            for part in _parts(size, served.width):
                drawn = served.drawn(values, part)
                releases += drawn
                texts.append(json.dumps(drawn, separators=(",", ":"))[1:-1])
                await asyncio.sleep(0)  # others have their turn
            served.charge(releases)
        found = f'{{"{served.reply}":[{",".join(texts)}]}}'
        return Response(found, media_type="application/json")

    async def rdp(request: Request) -> JSONResponse:
        needed = {served.takes, "orders"}
        content = await _content(request, needed, served.body_bytes, {"answered"})
        values, orders = served.input(content[served.takes]), _orders(content["orders"])
        return JSONResponse({"rdp": served.rdp(values, orders, _answered(content))})

    async def spent(request: Request) -> JSONResponse:
        return JSONResponse({"spent": served.spent(_delta(request.query_params.get("delta")))})

    return Starlette(
        routes=[
            Route("/aggregate", aggregate, methods=["POST"]),
            Route("/rdp", rdp, methods=["POST"]),
            Route("/spent", spent, methods=["GET"]),
        ],
        exception_handlers={
            ValueError: lambda _, error: _error(422, str(error)),
            BudgetExhausted: lambda _, error: _error(429, str(error)),
            NotOffered: lambda _, error: _error(404, str(error)),
            ClientDisconnect: lambda _, error: _error(400, "the client has gone"),
            HTTPException: lambda _, error: _error(error.status_code, error.detail),
        },
    )


def _parts(size: int, width: int) -> Iterator[int]:
    """Sizes that add up to `size`, each drawn in a few milliseconds."""
    most = max(1, _DRAWS // width)
    for start in range(0, size, most):
        yield min(most, size - start)


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": one_line(message)}, status)


async def _content(
    request: Request, keys: set[str], most: int, may: Set[str] = frozenset()
) -> dict[str, Any]:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise HTTPException(413, f"expected a body of at most {most:,} bytes")
    try:
        content = json.loads(bytes(body))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not keys <= set(content) <= keys | may:
        raise ValueError(f"expected one JSON object with {' and '.join(sorted(keys))}")
    return content


def _size(given: Any) -> int:
    if type(given) is not int or not 1 <= given <= LARGEST_SIZE:
        raise ValueError(f"size {shown(given)}: expected a whole number from 1 to {LARGEST_SIZE:,}")
    return given


def _orders(given: Any) -> NDArray[np.float64]:
    numbers = isinstance(given, list) and all(type(order) in (int, float) for order in given)
    if not numbers or not 1 <= len(given) <= _MOST_ORDERS:
        raise ValueError(f"orders: expected a list of 1 to {_MOST_ORDERS} numbers")
    if not all(1 < order <= 1e6 for order in given):
        raise ValueError("orders: expected numbers above 1, up to 1,000,000")
    return np.array(given, dtype=np.float64)


def _answered(content: dict[str, Any]) -> bool | None:
    answered = content.get("answered")
    if answered is not None and type(answered) is not bool:
        raise ValueError(f"answered {shown(answered)}: expected true or false")
    return answered


def _delta(given: str | None) -> float:
    try:
        delta = float(given or "")
    except ValueError:
        delta = 0.0
    if not 0 < delta < 1:
        raise ValueError("delta: expected a number between 0 and 1, as in /spent?delta=1e-5")
    return delta
