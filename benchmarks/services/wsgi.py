"""The aggregator as gunicorn serves it."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from .noises import labels


def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if environ["PATH_INFO"] != "/aggregate":
        start_response("404 Not Found", [("Content-Length", "0")])
        return []
    asked = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
    client = environ["REMOTE_ADDR"], int(environ["REMOTE_PORT"])
    sent = json.dumps({"labels": labels(asked, client)}).encode()
    start_response("200 OK", [("Content-Length", str(len(sent)))])
    return [sent]
