"""Streams of news. They go on without an end, also after the server was away."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
from httpx_sse import connect_sse

from .api.agents import acknowledge_messages, read_inbox
from .client import AuthenticatedClient
from .connection import MusterError, waits
from .models import Acknowledgement, AddressedMessage, ReadInboxUnread

WAIT = 50
"""How long one request waits for news, in seconds."""


@dataclass(frozen=True)
class StreamedEvent:
    """An event of a stream. The next stream goes on behind its `id`."""

    id: str
    event: str
    data: Any


def follow_channel(
    client: AuthenticatedClient, channel: str, *, since: str | None = None
) -> Iterator[StreamedEvent]:
    """Follows the messages of a channel: from now on, or behind the message or the time `since`."""
    path = f"/v1/channels/{quote(channel, safe='')}/stream"
    return _follow(client, path, {"full": "true", "since": since})


def follow_project(
    client: AuthenticatedClient, slug: str, *, after: str | None = None, types: str | None = None
) -> Iterator[StreamedEvent]:
    """Follows what happens in a project: from now on, or behind the event `after`.

    `types` names the events to follow, with commas between them.
    """
    path = f"/projects/{quote(slug, safe='')}/fossil/api/events"
    return _follow(client, path, {"after": after, "types": types})


def follow_events(
    client: AuthenticatedClient, *, after: str | None = None, types: str | None = None
) -> Iterator[StreamedEvent]:
    """Follows the server's log of events, as `follow_project`. For admins and the operator."""
    return _follow(client, "/v1/events", {"after": after, "types": types})


def follow_inbox(client: AuthenticatedClient, nick: str) -> Iterator[AddressedMessage]:
    """Follows what an agent has not read in its inbox.

    A message is acknowledged when the next one is asked for, so one that is being worked on comes
    again after a crash.
    """
    while True:
        messages = read_inbox.sync(
            nick, client=client, unread=ReadInboxUnread.TRUE, wait_seconds=WAIT
        )
        for message in messages or []:
            yield message
            body = Acknowledgement(ids=[message.id])
            acknowledge_messages.sync(nick, client=client, body=body)


def _follow(
    client: AuthenticatedClient, path: str, query: dict[str, str | None]
) -> Iterator[StreamedEvent]:
    params = {name: value for name, value in query.items() if value is not None}
    last: str | None = None
    pauses = waits(7)
    while True:
        headers = {} if last is None else {"last-event-id": last}
        try:
            with connect_sse(
                client.get_httpx_client(), "GET", path, params=params, headers=headers
            ) as source:
                for sse in source.iter_sse():
                    pauses = waits(7)
                    last = sse.id or last
                    yield StreamedEvent(id=sse.id, event=sse.event, data=sse.json())
        except httpx.TransportError:
            pass
        except MusterError as error:
            # Too many streams, or too many requests: later there is a place.
            if error.status < 500 and error.status != 429:
                raise
        time.sleep(next(pauses, 30))
