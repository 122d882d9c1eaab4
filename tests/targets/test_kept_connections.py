"""Connections that are kept: each request is sent once, whenever the server closes them."""

import socket
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import numpy as np
import pytest
from http_server import replying
from one_call import HISTOGRAM

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.targets import InProcessTarget, KeptConnections, NotOffered, TargetError
from dpassay.verifiers.targets import kept as kept_connections
from dpassay.verifiers.targets.kept import CLOSES

REPLY = replying({"labels": [0]})


def keeping(served, handle=REPLY):
    """A server that speaks HTTP/1.1 and keeps connections."""
    server = served(handle)
    handler = server.server.RequestHandlerClass
    handler.protocol_version, handler.wbufsize = "HTTP/1.1", -1
    return server


def distinct(over):
    return len(set(over))


@pytest.mark.parametrize("several", [1, 4])
def test_calls_share_connections_in_turns(several, served, opened) -> None:
    """Catches a new connection for each call, and calls that all go over the first."""
    clients = []

    def handle(handler):
        clients.append(handler.client_address)
        REPLY(handler)

    with KeptConnections(opened(keeping(served, handle).url), several) as kept:
        replies, over = kept.ask(HISTOGRAM, 12)
    assert replies == [[0]] * 12
    assert kept.ended is None
    assert len(set(clients)) == distinct(over) == several
    assert over[:several] == over[several : 2 * several]


def test_a_connection_that_was_closed_while_idle_is_not_written_to(served, opened) -> None:
    """No header says so: a client that does not look would lose a request, or send it twice."""

    def handle(handler):
        REPLY(handler)
        if len(server.asked) % 5 == 0:
            handler.wfile.flush()
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)

    server = keeping(served, handle)
    with KeptConnections(opened(server.url), 1) as kept:
        over = []
        for _ in range(20):
            over += kept.ask(HISTOGRAM, 1)[1]
            if len(over) % 5 == 0:
                wait_for_the_end(kept)
    assert kept.ended is None
    assert len(server.asked) == 20
    assert distinct(over) == 4


def wait_for_the_end(kept):
    """Until the client's socket has heard that the server has closed it."""
    for _ in range(2000):
        connections = kept._kept[0]._client._transport._pool.connections
        if all(connection.has_expired() for connection in connections):
            return
        time.sleep(0.005)
    raise AssertionError("the server has not closed it")


@pytest.mark.parametrize("header", ["close", None])
def test_a_server_that_keeps_none_is_told(header, served, opened) -> None:
    """A server says so by HTTP/1.0, or by a header."""
    server = served(replying({"labels": [0]}, **({"Connection": header} if header else {})))
    if header:
        server.server.RequestHandlerClass.protocol_version = "HTTP/1.1"
    with KeptConnections(opened(server.url), 1) as kept:
        replies, _ = kept.ask(HISTOGRAM, 50)
    assert kept.ended == CLOSES
    assert len(replies) == len(server.asked) == kept.calls == 3


def test_a_connection_that_ends_under_a_call_is_no_error_and_no_reason_to_repeat_it(
    served, opened
) -> None:
    def handle(handler):
        if len(server.asked) < 4:
            return REPLY(handler)
        handler.close_connection = True
        return handler.connection.shutdown(socket.SHUT_RDWR)

    server = keeping(served, handle)
    with KeptConnections(opened(server.url), 1) as kept:
        replies, _ = kept.ask(HISTOGRAM, 50)
    assert "connection ended" in kept.ended
    assert len(replies) == 3
    assert len(server.asked) == kept.calls == 4


@pytest.mark.parametrize(("status", "error"), [(500, TargetError), (429, BudgetExhausted)])
def test_what_is_no_matter_of_the_connection_is_raised(status, error, served, opened) -> None:
    server = keeping(served, replying({"error": "x"}, status))
    with KeptConnections(opened(server.url), 1) as kept, pytest.raises(error):
        kept.ask(HISTOGRAM, 5)


def test_no_answer_to_the_first_call_of_a_connection_is_an_error_as_anywhere_else(
    served, opened
) -> None:
    server = served(lambda handler: handler.connection.shutdown(socket.SHUT_RDWR))
    with KeptConnections(opened(server.url), 1) as kept, pytest.raises(TargetError):
        kept.ask(HISTOGRAM, 5)
    assert len(server.asked) == 1


def test_a_server_of_one_connection_at_a_time_is_told(opened, monkeypatch) -> None:
    """It answers the second once the first is closed: neither an error, nor waited for long."""
    monkeypatch.setattr(kept_connections, "_LEAST", 0.2)

    class Handler(BaseHTTPRequestHandler):
        protocol_version, wbufsize = "HTTP/1.1", -1

        def do_POST(self):
            self.content = self.rfile.read(int(self.headers["Content-Length"]))
            REPLY(self)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        target = opened(f"http://127.0.0.1:{server.server_port}")
        with KeptConnections(target, 4) as kept:
            replies, _ = kept.ask(HISTOGRAM, 50)
        assert len(replies) == 1
        assert "no answer" in kept.ended
        assert "connection 2" in kept.ended
        assert target.ask(HISTOGRAM, 1).tolist() == [0]  # none is left open
        server.shutdown()
        thread.join()


def test_what_has_no_connections_says_so() -> None:
    target = InProcessTarget(lambda votes, size: np.zeros(size, int))
    with pytest.raises(NotOffered):
        KeptConnections(target, 1)
