"""The aggregator as uvicorn serves it: each worker is spawned, and imports this anew."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from .noises import labels


async def aggregate(request: Request) -> JSONResponse:
    return JSONResponse({"labels": labels(await request.json())})


app = Starlette(routes=[Route("/aggregate", aggregate, methods=["POST"])])
