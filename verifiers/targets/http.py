"""A target behind HTTP. Replies stand in the order of the calls, however many are in flight."""

import asyncio
import json
import re
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import httpx

from ...reference import BudgetExhausted, Histogram
from ...reference.clock import check_clock, seconds_left, step
from .http_options import MOST_WAITED, PLAIN_HTTP, HttpOptions
from .labels import LABELS
from .release import Release
from .replies import (
    REPLY_BYTES,
    NoReplyError,
    NotOffered,
    Refused,
    TargetError,
    one_line,
    parsed_reply,
    shown,
    shown_bytes,
    shown_spec,
)
from .restart_command import RestartCommand

_PAUSES = (0.2, 0.5)  # seconds before a connection is tried again
_LACKING = (404, 405, 501)
_NOT_YET = (502, 503, 504)  # of whatever stands before a server that is starting
_LOOK = 0.5  # seconds between looks at the run's clock
_POLL = 0.1  # seconds between looks at such a server
# a connection that the server is about to close fails calls that cannot be repeated
_NEW_EACH = httpx.Limits(max_keepalive_connections=0)
_KEPT = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=None)


class HttpTarget:
    """Speaks JSON with the server at `url`; a path in it comes before those of the calls.

    timeout: seconds per call, from the connection to the last byte. Only a connection that could
    not be made is tried again: a request that may have been processed has drawn noise, or spent
    budget.
    restart: the command that restarts the server, if there is one; release: what it releases;
    options: headers, statuses and repeats, as a claim has them; at_once: calls in flight at most;
    keeps: whether one connection is kept for all calls (looked at before each: where the server has
    closed it, another is opened), and not a new one made for each.
    Raises TargetError for an URL that names no server.
    """

    def __init__(
        self,
        url: str,
        timeout: float,
        restart: RestartCommand | None = None,
        *,
        release: Release = LABELS,
        options: HttpOptions = PLAIN_HTTP,
        at_once: int = 1,
        keeps: bool = False,
    ) -> None:
        self._url, self._timeout, self._command = url, timeout, restart
        self._release, self.at_once = release, at_once
        self.opened = 0
        """Connections made so far."""
        base, self._options = _checked(url), options
        self.waited = 0.0
        """Seconds that calls have waited in all, because the server limits their rate."""
        self._client = httpx.AsyncClient(
            base_url=base,
            timeout=None,  # the whole call has one, see _exchange
            follow_redirects=False,
            trust_env=False,  # a proxy would be another deployment
            # takes a while to load, and is of no use to plain HTTP
            verify=httpx.create_ssl_context() if base.scheme == "https" else False,
            headers={"Accept-Encoding": "identity"} | options.values(),
            limits=_KEPT if keeps else _NEW_EACH,
        )
        # a loop of its own: a deadline for whole calls, whatever loop the caller runs
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def ask(self, histogram: Histogram, size: int) -> Any:
        """See `Target.ask`: POST /aggregate, or the call of another release."""
        return self.ask_each(histogram, (size,))[0]

    def ask_each(self, histogram: Histogram, sizes: Sequence[int]) -> list[Any]:
        """The raw replies to calls of these sizes, in this order, `at_once` of them in flight.

        Of several that fail, the first in this order is raised, once none is in flight.
        """
        release = self._release
        content, path = release.content(histogram), f"/{release.call}"
        calls = [
            _Call(release.text(histogram, size), "POST", path, {**content, "size": size})
            for size in sizes
        ]
        return self._request(release.reply, calls)

    def rdp(self, histogram: Histogram, orders: Sequence[float]) -> Any:
        """See `Target.rdp`: POST /rdp."""
        release = self._release
        request = {**release.content(histogram), "orders": list(orders)}
        call = _Call(release.charge_text(histogram), "POST", "/rdp", request)
        return self._request("rdp", [call])[0]

    def spent(self, delta: float) -> Any:
        """See `Target.spent`: GET /spent."""
        call = _Call(f"spent({delta:g})", "GET", f"/spent?delta={float(delta)!r}")
        return self._request("spent", [call])[0]

    def keep_connection(self, seconds: float | None = None) -> "HttpTarget":
        """See `Keeping.keep_connection`."""
        timeout = self._timeout if seconds is None else min(seconds, self._timeout)
        return HttpTarget(
            self._url, timeout, release=self._release, options=self._options, keeps=True
        )

    @property
    def no_restart(self) -> str | None:
        """See `Target.no_restart`."""
        return "name a command as restart in [gate]" if self._command is None else None

    def restart(self) -> str | None:
        """See `Target.restart`: by the claim's command, after which the server must answer."""
        if self._command is None:
            raise NotOffered("a server cannot be restarted without a command, restart in [gate]")
        self._command.run()
        answer = self._await_answer(min(self._timeout, seconds_left()))
        future = asyncio.run_coroutine_threadsafe(answer, self._loop)
        try:
            future.result()
        except TimeoutError:
            check_clock()
            raise TargetError(
                f"the target gave no answer within {self._timeout:g} s (timeout in [gate]) after "
                f"{self._command.name} had ended"
            ) from None
        finally:
            future.cancel()
        return None

    def restart_contained(self) -> None:
        """See `Target.restart_contained`: the server was not started by the run."""
        raise NotOffered("a server has its own process")

    async def _await_answer(self, seconds: float) -> None:
        """Waits for any answer of the server itself; a request that draws noise is not made."""
        async with asyncio.timeout(seconds):
            while True:
                try:
                    async with self._client.stream("GET", "/") as response:
                        if response.status_code not in _NOT_YET:
                            return
                except (httpx.HTTPError, httpx.StreamError, OSError, ValueError):
                    pass  # not there yet
                await asyncio.sleep(_POLL)

    def close(self) -> None:
        """Ends the client; the server goes on."""
        asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _request(self, wanted: str, calls: Sequence["_Call"]) -> list[Any]:
        answers = self._patient_answers(calls)
        return [self._found(wanted, calls[i], answers[i]) for i in sorted(answers)]

    def _found(self, wanted: str, call: "_Call", answer: "_Answer") -> Any:
        """What was asked for, out of the answer to a call; raises as `Target.ask`."""
        if isinstance(answer, BaseException):
            raise self._failed(call.text, answer) from None
        status, _, body = answer
        if 200 <= status < 300:
            reply = parsed_reply(body, call.text)
            if wanted in reply:
                return reply[wanted]
            raise TargetError(
                f"{call.text} returned {shown_bytes(body)}: expected an object with {wanted!r}"
            )
        if status == 429:
            raise BudgetExhausted(_said(body))
        if status in _LACKING and wanted != self._release.reply:
            route = f"{call.method} {call.path.partition('?')[0]}"
            raise NotOffered(f"the target answers {route} with HTTP status {status}")
        if status in self._options.refusal_status and wanted != "spent":
            raise Refused(_said(body))
        raise TargetError(f"{call.text} got HTTP status {status}: {_page(body)}")

    def _patient_answers(self, calls: Sequence["_Call"]) -> dict[int, "_Answer"]:
        """Answers by the place of their calls, which are made again as often as the server allows.

        All of them, or those until a call has failed for good: no other is begun after that.
        """
        found: dict[int, _Answer] = {}
        waited, tries, left = [0.0] * len(calls), [0] * len(calls), list(range(len(calls)))
        while left:
            made = self._answers({i: calls[i] for i in left})
            pauses = {i: self._pause(answer, tries[i]) for i, answer in made.items()}
            found |= {i: answer for i, answer in made.items() if pauses[i] is None}
            if any(not _is_reply(answer) for answer in found.values()):
                return found
            left = [i for i in left if i not in found]
            longest = max((pause for pause in pauses.values() if pause is not None), default=0.0)
            for i in (i for i, pause in pauses.items() if pause is not None):
                waited[i], tries[i] = waited[i] + longest, tries[i] + 1
                self._check_patience(calls[i], made[i], waited[i])
            if left and longest:
                step(f"waiting {longest:,.0f} s, as the target asks")
                self._wait(longest)
        return found

    def _pause(self, answer: "_Answer", tries: int) -> float | None:
        """Seconds until a call may be made again; None where the answer stands."""
        if isinstance(answer, BaseException):
            return None
        status, retry_after, _ = answer
        return self._options.pause(status, retry_after, tries)

    @staticmethod
    def _check_patience(call: "_Call", answer: "_Answer", waited: float) -> None:
        """Raises TargetError for a call that was put off for too long."""
        if waited > MOST_WAITED and not isinstance(answer, BaseException):
            raise TargetError(
                f"{call.text} got HTTP status {answer[0]} again and again: more than "
                f"{MOST_WAITED:,.0f} s of waiting in all"
            )

    def _wait(self, seconds: float) -> None:
        """Lets time pass, as far as the run has any. Raises OutOfTime."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            check_clock()
            time.sleep(min(left, _LOOK, max(seconds_left(), 0.01)))
        self.waited += seconds

    def _answers(self, calls: dict[int, "_Call"]) -> dict[int, "_Answer"]:
        """Of each call that was begun: status, `Retry-After` and body, or what came instead."""
        check_clock()
        future = asyncio.run_coroutine_threadsafe(self._side_by_side(calls), self._loop)
        try:
            return future.result()
        finally:
            future.cancel()  # nothing is left behind by Ctrl-C

    def _failed(self, call: str, error: BaseException) -> BaseException:
        """What a call without an answer is for the run: nearly always a TargetError."""
        if isinstance(error, TimeoutError):
            check_clock()  # where it is the run's time that is over, the target is not to blame
            return NoReplyError(
                f"{call} gave no answer within {self._timeout:g} s (timeout in [gate])"
            )
        if isinstance(error, httpx.ConnectError):
            where = f"{self._client.base_url.host}{_port(self._client.base_url)}"
            why = one_line(error)
            return TargetError(
                f"{call} failed: no connection to {where} ({why}): is the server running there?"
            )
        if isinstance(error, httpx.HTTPError | httpx.StreamError | OSError | ValueError):
            return NoReplyError(f"{call} failed: {one_line(error) or type(error).__name__}")
        return error

    async def _side_by_side(self, calls: dict[int, "_Call"]) -> dict[int, "_Answer"]:
        """Begins calls in their order, until one has no reply: those in flight then come to it."""
        free, found = asyncio.Semaphore(self.at_once), dict[int, _Answer]()

        async def answered(place: int, call: _Call) -> None:
            async with free:
                if not all(_is_reply(answer) for answer in found.values()):
                    return
                try:
                    answer: _Answer = await self._exchange(call, min(self._timeout, seconds_left()))
                except Exception as error:
                    answer = error
                found[place] = answer

        await asyncio.gather(*(answered(place, call) for place, call in calls.items()))
        return found

    async def _exchange(self, call: "_Call", seconds: float) -> "_Answered":
        async with asyncio.timeout(seconds):
            for pause in _PAUSES:
                try:
                    return await self._once(call)
                except httpx.ConnectError:
                    await asyncio.sleep(pause)
            return await self._once(call)

    async def _once(self, call: "_Call") -> "_Answered":
        told = {"trace": self._count}
        made = self._client.stream(call.method, call.path, **call.body, extensions=told)
        async with made as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > REPLY_BYTES:
                    raise TargetError(f"{call.text} returned more than {REPLY_BYTES >> 20} MB")
            return response.status_code, response.headers.get("Retry-After"), bytes(body)

    async def _count(self, event: str, _: dict[str, Any]) -> None:
        """Follows what is done for a request."""
        self.opened += event == "connection.connect_tcp.complete"


class _Call(NamedTuple):
    """A request, and the call as messages name it."""

    text: str
    method: str
    path: str
    content: Any = None

    @property
    def body(self) -> dict[str, Any]:
        """What goes with it: JSON that has NaN and Infinity as words, which httpx's own refuses."""
        if self.content is None:
            return {}
        written = json.dumps(self.content, ensure_ascii=False, separators=(",", ":"))
        return {"content": written.encode(), "headers": {"Content-Type": "application/json"}}


_Answered = tuple[int, str | None, bytes]
"""Status, `Retry-After`, body."""
_Answer = _Answered | BaseException


def _is_reply(answer: _Answer) -> bool:
    return not isinstance(answer, BaseException) and 200 <= answer[0] < 300


def _checked(url: str) -> httpx.URL:
    """The URL without its credentials in any message. Raises TargetError."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parsed = None
    if parsed is None or not parsed.host or parsed.query or parsed.fragment:
        raise TargetError(f"{shown_spec(url)}: expected http://host:port, a path at most after it")
    if parsed.port is not None and not 0 < parsed.port < 1 << 16:
        raise TargetError(f"{shown_spec(url)}: port {parsed.port}: expected 1 to 65535")
    return parsed


def _port(url: httpx.URL) -> str:
    """The port as messages name it: the scheme's own where the URL has none."""
    return f":{url.port or {'https': 443}.get(url.scheme, 80)}"


def _page(body: bytes) -> str:
    """What a server says with an error: its words, without the markup of a page."""
    text = body[:4000].decode(errors="replace")
    if text.lstrip().startswith("<"):
        text = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    return shown(text) if text else "an empty body"


def _said(body: bytes) -> str:
    """The one line of `{"error": ...}`, or the beginning of whatever was sent."""
    try:
        return one_line(parsed_reply(body, "")["error"])
    except (TargetError, KeyError):
        return shown_bytes(body)
