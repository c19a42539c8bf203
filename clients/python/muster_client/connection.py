"""The connection to a server: its token, its errors, and requests that are repeated."""

import asyncio
import random
import time
from collections.abc import Iterator

import httpx

from .client import AuthenticatedClient

REPEATABLE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
"""Methods that may be sent twice."""

PASSING = frozenset({502, 503, 504})
"""Answers that tell of a state that passes."""

MAX_WAIT = 30.0
"""The longest wait before an attempt, in seconds."""

TIMEOUT = 75.0
"""How long an answer may take, in seconds: longer than the longest wait for news."""


class MusterError(Exception):
    """What the server refuses. `status` is that of HTTP, and the text is the server's sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def connect(url: str, token: str, *, retries: int = 4) -> AuthenticatedClient:
    """Makes the client that every operation takes.

    An operation raises `MusterError` if the server refuses it. A request that fails for a while is
    repeated, `retries` times at most. Nothing is done twice: a POST or PATCH is repeated only if the
    server refused it for its rate (429).
    """
    client = AuthenticatedClient(base_url=url.rstrip("/"), token=token)
    shared = {
        "base_url": url.rstrip("/"),
        "headers": {"authorization": f"Bearer {token}"},
        "timeout": TIMEOUT,
    }
    client.set_httpx_client(
        httpx.Client(
            **shared,
            transport=_Retrying(httpx.HTTPTransport(), retries),
            event_hooks={"response": [_refuse]},
        )
    )
    client.set_async_httpx_client(
        httpx.AsyncClient(
            **shared,
            transport=_AsyncRetrying(httpx.AsyncHTTPTransport(), retries),
            event_hooks={"response": [_refuse_async]},
        )
    )
    return client


def waits(retries: int) -> Iterator[float]:
    """Half a second, doubled each time, and less by chance so that clients do not come together."""
    for attempt in range(retries):
        yield min(0.5 * 2**attempt, MAX_WAIT) * random.uniform(0.5, 1)


def _asked(response: httpx.Response, usual: float) -> float | None:
    """How long to wait before the request is repeated, in seconds; None if it must not be."""
    passes = response.status_code == 429 or (
        response.status_code in PASSING and response.request.method in REPEATABLE
    )
    if not passes:
        return None
    seconds = response.headers.get("retry-after", "")
    return min(float(seconds), MAX_WAIT) if seconds.isdigit() else usual


class _Retrying(httpx.BaseTransport):
    def __init__(self, transport: httpx.BaseTransport, retries: int) -> None:
        self._transport = transport
        self._retries = retries

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for usual in waits(self._retries):
            try:
                response = self._transport.handle_request(request)
            except httpx.TransportError:
                if request.method not in REPEATABLE:
                    raise
                time.sleep(usual)
                continue
            response.request = request
            wait = _asked(response, usual)
            if wait is None:
                return response
            response.close()
            time.sleep(wait)
        return self._transport.handle_request(request)

    def close(self) -> None:
        self._transport.close()


class _AsyncRetrying(httpx.AsyncBaseTransport):
    def __init__(self, transport: httpx.AsyncBaseTransport, retries: int) -> None:
        self._transport = transport
        self._retries = retries

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        for usual in waits(self._retries):
            try:
                response = await self._transport.handle_async_request(request)
            except httpx.TransportError:
                if request.method not in REPEATABLE:
                    raise
                await asyncio.sleep(usual)
                continue
            response.request = request
            wait = _asked(response, usual)
            if wait is None:
                return response
            await response.aclose()
            await asyncio.sleep(wait)
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        await self._transport.aclose()


def _refuse(response: httpx.Response) -> None:
    if response.is_error:
        response.read()
        raise _refusal(response)


async def _refuse_async(response: httpx.Response) -> None:
    if response.is_error:
        await response.aread()
        raise _refusal(response)


def _refusal(response: httpx.Response) -> MusterError:
    try:
        sentence = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        sentence = response.text
    if not isinstance(sentence, str) or sentence == "":
        sentence = f"{response.status_code} {response.reason_phrase}"
    return MusterError(response.status_code, sentence)
