"""The aggregator as uvicorn serves it: each worker is spawned, and imports this anew."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from .noises import labels


async def aggregate(request: Request) -> JSONResponse:
    client = request.client
    assert client is not None
    asked = await request.json()
    return JSONResponse({"labels": labels(asked, (client.host, client.port))})


app = Starlette(routes=[Route("/aggregate", aggregate, methods=["POST"])])
