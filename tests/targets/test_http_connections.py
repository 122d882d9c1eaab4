"""HTTP servers that are slow, endless, late, gone or restarted."""

import socket

import httpx
import pytest
from http_server import Server, replying
from one_call import CALL, ask

from dpassay.verifiers.targets import NotOffered, TargetError, http


@pytest.mark.parametrize("where", ["status line", "header", "body"])
@pytest.mark.quick_cases(1)
def test_a_server_that_drips_does_not_exceed_the_timeout(where, served, opened) -> None:
    """Each byte is in time, the call is not: a timeout for every read would see a good reply."""
    reply = b'{"labels": [0, 0, 0, 0, 0]}'
    head = b"HTTP/1.0 200 OK\r\n"
    header = b"X-Padding: " + b"x" * 200 + b"\r\nContent-Length: %d\r\n\r\n" % len(reply)
    quick = {"status line": b"", "header": head, "body": head + header}[where]

    def handle(handler):
        handler.wfile.write(quick)
        for byte in (head + header + reply)[len(quick) :]:
            if server.ended.wait(0.05):
                return
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()

    server = served(handle)
    with pytest.raises(TargetError, match=rf"{CALL} .*no answer .*0\.3 s"):
        ask(opened(server.url, timeout=0.3))


def test_a_server_that_hangs_is_given_up(served, opened) -> None:
    server: Server = served(lambda handler: server.ended.wait(60))
    with pytest.raises(TargetError, match=rf"{CALL} .*no answer .*0\.3 s"):
        ask(opened(server.url, timeout=0.3))
    assert len(server.asked) <= 1


def test_an_endless_body_is_cut_off_while_it_arrives(served, opened) -> None:
    """The server never ends: one who reads the body to its end never learns its length."""

    def handle(handler):
        handler.send_response(200)
        handler.end_headers()
        while not server.ended.is_set():
            handler.wfile.write(b" " * (1 << 20))

    server = served(handle)
    with pytest.raises(TargetError, match=f"{CALL} .*64 MB"):
        ask(opened(server.url))


def test_a_request_that_was_received_is_never_repeated(served, opened) -> None:
    """It may have spent budget or drawn noise; here the connection ends without a reply."""
    server = served(lambda handler: handler.connection.shutdown(socket.SHUT_RDWR))
    with pytest.raises(TargetError, match=f"{CALL} failed: "):
        ask(opened(server.url))
    assert len(server.asked) == 1


def test_a_server_that_comes_up_late_is_reached(served, opened, monkeypatch) -> None:
    """Refused until a connection was tried once; without a second try it would be an error."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    once, tried = http.HttpTarget._once, []

    async def starting(self, *arguments):
        try:
            return await once(self, *arguments)
        except httpx.ConnectError:
            tried.append(1)
            if len(tried) == 1:
                served(replying({"labels": [0] * 5}), port)
            raise

    monkeypatch.setattr(http.HttpTarget, "_once", starting)
    assert ask(opened(f"http://127.0.0.1:{port}")).tolist() == [0] * 5
    assert len(tried) == 1


def test_nobody_there_is_one_line(opened, monkeypatch) -> None:
    monkeypatch.setattr(http, "_PAUSES", (0.0, 0.0))
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    with pytest.raises(TargetError, match=f"{CALL} .*no connection .*127.0.0.1:{port} "):
        ask(opened(f"http://127.0.0.1:{port}"))


def test_proxies_of_the_environment_are_ignored(served, opened, monkeypatch) -> None:
    """Through the proxy, nothing would be reached."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert ask(opened(served(replying({"labels": [0] * 5})).url)).size == 5


def test_calls_work_inside_a_running_loop(served, opened) -> None:
    """A notebook has one: a client that runs its own loop in the caller's thread would fail."""
    import asyncio

    target = opened(served(replying({"labels": [0] * 5})).url)

    async def caller():
        return ask(target)

    assert asyncio.run(caller()).size == 5


def test_a_server_cannot_be_restarted_without_a_command(served, opened) -> None:
    target = opened(served(replying({})).url)
    assert "restart in [gate]" in target.no_restart
    with pytest.raises(NotOffered):
        target.restart()


def test_after_the_command_any_answer_is_waited_for(served, opened, tmp_path) -> None:
    """No request that draws noise is made for it; a proxy's 503 is no answer of the server."""
    starting = iter([503, 502, 404])

    def handle(handler):
        replying({}, status=next(starting))(handler)

    server, mark = served(handle), tmp_path / "restarted"
    target = opened(server.url, restart=f"touch {mark}")
    assert target.no_restart is None
    target.restart()
    assert mark.exists()
    assert [asked[:2] for asked in server.asked] == [("GET", "/")] * 3


@pytest.mark.slow("over half a second")
def test_a_server_that_does_not_come_back_is_one_line(served, opened) -> None:
    server = served(replying({}, status=503))
    with pytest.raises(TargetError, match=r"no answer.*0\.5 s.*'true'"):
        opened(server.url, timeout=0.5, restart="true").restart()
