"""`dpassay serve` among clients that are slow, foreign, greedy or gone."""

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest
from claims import gnmax

from dpassay.verifiers.commands import service as server
from dpassay.verifiers.commands.service import QuietServer, settings
from dpassay.verifiers.kinds.labels.served import ServedLabels
from dpassay.verifiers.kinds.reading import parse_claim

MECHANISM = gnmax(10, 3, 50)
ASKED = {"histogram": [30, 15, 5], "size": 2}


@contextlib.asynccontextmanager
async def serving(claim=None):
    """The port of a server in this loop, and the server."""
    app = server.application(ServedLabels(parse_claim(claim or {"mechanism": MECHANISM})))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        served = QuietServer(settings(app, port, 2))
        served.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment] # pytest keeps its own
        running = asyncio.create_task(served.serve([listener]))
        while not served.started:
            await asyncio.sleep(0.01)
        try:
            yield port, served
        finally:
            served.should_exit = True
            await running


async def post(port, content, **headers):
    url = f"http://127.0.0.1:{port}/aggregate"
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        return await client.post(url, json=content, headers=headers)


async def closed(writer):
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("Host", "evil.example", 421),
        ("Host", "evil.example:{port}", 421),
        ("Host", "127.0.0.1", 421),  # of port 80
        ("Host", "127.0.0.1.evil.example:{port}", 421),
        ("Origin", "http://evil.example", 403),
        ("Origin", "http://evil.example:{port}", 403),
        ("Origin", "null", 403),
        ("Host", "localhost:{port}", 200),
        ("Host", "[::1]:{port}", 200),
        ("Origin", "http://localhost:{port}", 200),
    ],
)
@pytest.mark.quick_cases(2)
def test_only_this_machine_is_answered(name, value, status) -> None:
    """A page whose name was rebound to 127.0.0.1 sends its own name as Host, or as Origin."""

    async def asked():
        async with serving() as (port, _):
            return await post(port, ASKED, **{name: value.format(port=port)})

    reply = asyncio.run(asked())
    assert reply.status_code == status
    assert ("labels" in reply.json()) == (status == 200)


HEAD = b"POST /aggregate HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 100\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"POST /aggr", HEAD, HEAD + b"{"])
@pytest.mark.slow("over half a second")
def test_a_request_that_never_ends_is_ended(monkeypatch, sent) -> None:
    """Byte by byte: a time that began anew with each would let a client stay for ever."""
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.5)

    async def drip():
        async with serving() as (port, served):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent % port if b"%d" in sent else sent)
            reply = asyncio.create_task(reader.read())
            for _ in range(100):
                if reply.done():
                    break
                with contextlib.suppress(ConnectionError):
                    writer.write(b"x" if sent else b"")
                await asyncio.sleep(0.1)
            await closed(writer)
            other = await post(port, ASKED)
            return reply.done() and reply.result(), other.status_code, served

    said, other, _ = asyncio.run(asyncio.wait_for(drip(), 60))
    assert said.startswith(b"HTTP/1.1 408 ")
    assert other == 200


@pytest.mark.slow("fills the buffers of a connection and waits")
def test_an_answer_that_is_not_taken_is_ended(monkeypatch) -> None:
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.5)

    async def deaf():
        async with serving() as (port, served):
            body = json.dumps({"histogram": [30, 15, 5], "size": 1_000_000}).encode()
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"POST /aggregate HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            for _ in range(300):
                await asyncio.sleep(0.1)
                if not served.server_state.connections:
                    break
            await closed(writer)
            return len(served.server_state.connections)

    assert asyncio.run(asyncio.wait_for(deaf(), 60)) == 0


@pytest.mark.slow("over half a second")
def test_a_second_request_of_a_connection_has_its_own_time(monkeypatch) -> None:
    """Catches a time that runs from the connection on: a client that keeps it would be cut off."""
    monkeypatch.setattr(server, "REQUEST_SECONDS", 1.0)

    async def kept():
        async with serving() as (port, _):
            url = f"http://127.0.0.1:{port}/aggregate"
            async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
                first = await client.post(url, json=ASKED)
                await asyncio.sleep(1.5)
                (connection,) = client._transport._pool.connections  # type: ignore[attr-defined]
                second = await client.post(url, json=ASKED)
                assert client._transport._pool.connections == [connection]  # type: ignore[attr-defined]
                return first.status_code, second.status_code

    assert asyncio.run(kept()) == (200, 200)


@pytest.mark.slow("over half a second")
def test_others_are_answered_while_many_labels_are_drawn() -> None:
    """Served one by one, they would wait for the last of a million labels."""

    async def both():
        async with serving() as (port, _):
            finished = []

            async def ask(size):
                reply = await post(port, ASKED | {"size": size})
                finished.append(size)
                return len(reply.json()["labels"])

            many = asyncio.create_task(ask(1_000_000))
            await asyncio.sleep(0)
            few = [await ask(1) for _ in range(3)]
            return few, finished[:3], await many

    few, first, many = asyncio.run(both())
    assert (few, many) == ([1, 1, 1], 1_000_000)
    assert first == [1, 1, 1]


def test_two_that_are_answered_in_turns_share_one_budget(monkeypatch) -> None:
    """Labels that are promised to one are not there for the other, drawn or not."""
    monkeypatch.setattr(server, "_DRAWS", 3)  # a turn a label
    privacy = {"epsilon": 1.0, "delta": 1e-5, "queries": 3}  # three queries fit, as in test_serve

    async def both():
        async with serving({"mechanism": MECHANISM, "privacy": privacy}) as (port, _):
            replies = await asyncio.gather(*(post(port, ASKED | {"size": 2}) for _ in range(2)))
            return sorted(reply.status_code for reply in replies)

    assert asyncio.run(both()) == [200, 429]


@pytest.mark.slow("over half a second")
def test_ctrl_c_ends_half_open_connections_without_a_word() -> None:
    """Each was a traceback of a CancelledError: 438 kB for a few hundred."""
    command = [sys.executable, "-m", "dpassay.verifiers.cli", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            port = int(process.stderr.readline().rsplit(":", 1)[1])
            with contextlib.ExitStack() as stack:
                for k in range(20):
                    half = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                    half.sendall(HEAD % port + b"{" if k % 2 else b"POST /agg")
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
                assert process.wait(timeout=60) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()
