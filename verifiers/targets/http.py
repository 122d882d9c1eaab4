"""A target behind HTTP. Replies are in the order of the calls, however many are in flight."""

import asyncio
import threading
import time
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

import httpx

from ...reference import REFUSAL, BudgetExhausted, Histogram
from ...reference.clock import check_clock, seconds_left, step
from .http_call import (
    LACKING,
    Answer,
    Answered,
    Call,
    call_error,
    check_patience,
    error_text,
    limit_text,
    parse_url,
    status_text,
    value_in_reply,
)
from .http_options import PLAIN_HTTP, HttpOptions, secret_words
from .labels import LABELS
from .release import Release
from .replies import REPLY_BYTES, CallError, InputAndSize, NotOffered, Refused, TargetError
from .restart_command import RestartCommand, RunsAlready

_PAUSES = (0.2, 0.5)  # seconds before a connection is tried again
_NOT_YET = (502, 503, 504)  # from a proxy, while the server behind it is starting
_LOOK = 0.5  # seconds between looks at the run's clock
_POLL = 0.1  # seconds between requests to a server that is starting
# a connection that the server is about to close fails calls that cannot be repeated
_NEW_EACH = httpx.Limits(max_keepalive_connections=0)
_KEPT = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=None)


class HttpTarget(RunsAlready):
    """Sends JSON to the server at `url`; a path in the URL is prepended to those of the calls.

    Raises TargetError for a URL that names no server.

    Args:
        timeout: seconds per call, from the connection to the last byte. Only a failed connection is
            tried again: a request that was sent may have drawn noise, or spent budget. restart: the
            command that restarts the server, if any.
        release: what it releases.
        options: headers, statuses and repeats, as in the claim.
        at_once: most calls in flight.
        keeps: whether one connection is kept for all calls, and replaced only if the server has
            closed it, instead of a new one per call.
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
        base, self._options = parse_url(url), options
        headers = options.values()
        self._secrets = secret_words(headers.values())
        self.waited = 0.0
        """Total seconds that calls have waited because the server limits their rate."""
        self._client = httpx.AsyncClient(
            base_url=base,
            timeout=None,  # the whole call has one, see _exchange
            follow_redirects=False,
            trust_env=False,  # a proxy would be another deployment
            # takes a while to load, and is of no use to plain HTTP
            verify=options.tls.context() if base.scheme == "https" else False,
            headers={"Accept-Encoding": "identity"} | headers,
            limits=_KEPT if keeps else _NEW_EACH,
        )
        # own event loop: whole calls get a deadline, whatever loop the caller runs
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def ask(self, histogram: Histogram, size: int) -> Any:
        """See `Target.ask`: POST /aggregate, or the call of another release."""
        return self.ask_each([(histogram, size)])[0]

    def ask_each(self, calls: Sequence[InputAndSize]) -> list[Any]:
        """The raw replies to the calls, in order, with `at_once` of them in flight.

        If some fail, the error of the first in this order is raised once none is in flight.
        """
        release, route = self._release, self._options.route
        path = route.path or f"/{release.call}"
        parts = [(histogram, route.calls(size)) for histogram, size in calls]
        requests = [
            Call(release.text(histogram, n), "POST", path, route.content(asked), n)
            for histogram, part in parts
            for n, asked in ((n, release.asked(histogram, n)) for n in part)
        ]
        found = iter(self._request(release.reply, requests))
        return [
            next(found) if len(part) == 1 else list(chain.from_iterable(islice(found, len(part))))
            for _, part in parts
        ]

    def rdp(
        self, histogram: Histogram, orders: Sequence[float], answered: bool | None = None
    ) -> Any:
        """See `Target.rdp`: POST /rdp, or where the claim says."""
        release, path = self._release, self._options.route.path_of("rdp")
        request = release.charge_content(histogram, orders, answered)
        call = Call(release.charge_text(histogram, answered), "POST", path, request)
        return self._request("rdp", [call])[0]

    def spent(self, delta: float) -> Any:
        """See `Target.spent`: GET /spent, or where the claim says."""
        path = self._options.route.path_of("spent")
        call = Call(f"spent({delta:g})", "GET", f"{path}?delta={float(delta)!r}")
        return self._request("spent", [call])[0]

    def keep_connection(self, seconds: float | None = None) -> "HttpTarget":
        timeout = self._timeout if seconds is None else min(seconds, self._timeout)
        return HttpTarget(
            self._url, timeout, release=self._release, options=self._options, keeps=True
        )

    def restart(self) -> str | None:
        """By the claim's command, after which the server must answer."""
        super().restart()
        assert self._command is not None
        answer = self._await_answer(min(self._timeout, seconds_left()))
        future = asyncio.run_coroutine_threadsafe(answer, self._loop)
        try:
            future.result()
        except TimeoutError:
            check_clock()
            raise TargetError(
                f"the target gave no answer within {self._timeout:g} s (timeout in [gate]) after "
                f"{self._command.name} had ended",
                code="target-too-slow",
            ) from None
        finally:
            future.cancel()
        return None

    async def _await_answer(self, seconds: float) -> None:
        """Waits for any answer of the server itself to GET /, which draws no noise."""
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
        """Closes the client; the server keeps running."""
        asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _request(self, wanted: str, calls: Sequence[Call]) -> list[Any]:
        answers = self._patient_answers(calls)
        return [self._value_for(wanted, calls[i], answers[i]) for i in sorted(answers)]

    def _value_for(self, wanted: str, call: Call, answer: Answer) -> Any:
        """The value of key `wanted` in the answer to a call; raises as `Target.ask`."""
        if isinstance(answer, BaseException):
            raise call_error(call.text, answer, self._client.base_url, self._timeout) from None
        (status, _, body), options = answer, self._options
        asked = wanted == self._release.reply
        if status == 429:
            raise BudgetExhausted(limit_text(body))
        if status in LACKING and not asked:
            what = f"{call.method} {call.path.partition('?')[0]}"
            raise NotOffered(f"the target answers {what} with HTTP status {status}")
        if status in options.refusal_status and wanted != "spent":
            if asked and call.size == 1 and options.refuses_query(status):
                return [REFUSAL]
            raise Refused(error_text(body) if body else f"HTTP status {status}")
        if not 200 <= status < 300:
            raise TargetError(status_text(call, status, body, self._client.base_url))
        route = options.route
        if not asked:
            return value_in_reply(wanted, call.text, body)
        if route.answer is None:
            found = value_in_reply(wanted, call.text, body)
        else:
            found = route.found(body, call.text)
            found = route.answers(found, call.size, are_labels=wanted == LABELS.reply)
        return route.numbered(found, call.text, refuses=options.refuses)

    def _patient_answers(self, calls: Sequence[Call]) -> dict[int, Answer]:
        """Answers by the index of their calls, which are repeated as the server asks.

        Once a call has failed for good no other is begun, and the rest are missing.
        """
        found: dict[int, Answer] = {}
        waited, tries, left = [0.0] * len(calls), [0] * len(calls), list(range(len(calls)))
        while left:
            made = self._answers({i: calls[i] for i in left})
            pauses = {i: self._pause(answer, tries[i]) for i, answer in made.items()}
            found |= {i: answer for i, answer in made.items() if pauses[i] is None}
            if not all(self._is_reply(answer) for answer in found.values()):
                return found
            left = [i for i in left if i not in found]
            longest = max((pause for pause in pauses.values() if pause is not None), default=0.0)
            for i in (i for i, pause in pauses.items() if pause is not None):
                waited[i], tries[i] = waited[i] + longest, tries[i] + 1
                check_patience(calls[i], made[i], waited[i])
            if left and longest:
                step(f"waiting {longest:,.0f} s, as the target asks")
                self._wait(longest)
        return found

    def _is_reply(self, answer: Answer) -> bool:
        """Whether a call was answered."""
        return not isinstance(answer, BaseException) and self._options.answers(answer[0])

    def _pause(self, answer: Answer, tries: int) -> float | None:
        """Seconds until a call may be made again; None where the answer stands."""
        if isinstance(answer, BaseException):
            return None
        status, retry_after, _ = answer
        return self._options.pause(status, retry_after, tries)

    def _wait(self, seconds: float) -> None:
        """Waits, within the time of the run. Raises OutOfTime."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            check_clock()
            time.sleep(min(left, _LOOK, max(seconds_left(), 0.01)))
        self.waited += seconds

    def _answers(self, calls: dict[int, Call]) -> dict[int, Answer]:
        """Per call begun, by index: status, `Retry-After` and body, or the error instead."""
        check_clock()
        future = asyncio.run_coroutine_threadsafe(self._side_by_side(calls), self._loop)
        try:
            return future.result()
        finally:
            future.cancel()  # nothing is left behind by Ctrl-C

    async def _side_by_side(self, calls: dict[int, Call]) -> dict[int, Answer]:
        """Begins calls in order, and no more once one has failed; waits for those in flight."""
        free, found = asyncio.Semaphore(self.at_once), dict[int, Answer]()

        async def answered(place: int, call: Call) -> None:
            async with free:
                if not all(self._is_reply(answer) for answer in found.values()):
                    return
                try:
                    answer: Answer = await self._exchange(call, min(self._timeout, seconds_left()))
                except Exception as error:
                    answer = error
                found[place] = answer

        await asyncio.gather(*(answered(place, call) for place, call in calls.items()))
        return found

    async def _exchange(self, call: Call, seconds: float) -> Answered:
        async with asyncio.timeout(seconds):
            for pause in _PAUSES:
                try:
                    return await self._once(call)
                except httpx.ConnectError:
                    await asyncio.sleep(pause)
            return await self._once(call)

    async def _once(self, call: Call) -> Answered:
        extensions = {"trace": self._count}
        made = self._client.stream(call.method, call.path, **call.body, extensions=extensions)
        async with made as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > REPLY_BYTES:
                    raise CallError(call.text, f"returned more than {REPLY_BYTES >> 20} MB")
            found = bytes(body)
            for secret in self._secrets:  # a server may repeat one where it says what is wrong
                found = found.replace(secret, b"***")
            return response.status_code, response.headers.get("Retry-After"), found

    async def _count(self, event: str, _: dict[str, Any]) -> None:
        """Counts connections: httpx calls it for each step of a request."""
        self.opened += event == "connection.connect_tcp.complete"
