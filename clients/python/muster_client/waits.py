"""Waits for what takes its time."""

import time

from .api.checks import get_checkin_status
from .api.questions import get_question
from .api.reviews import list_landings
from .client import AuthenticatedClient
from .models import CheckinStatus, Landing, Question

WAIT = 50
"""How long one request waits for news, in seconds."""

INTERVAL = 2.0
"""How often what has no wait of its own is asked for, in seconds."""


def answer_to(client: AuthenticatedClient, question: int) -> Question:
    """Waits until a question is no longer open."""
    while True:
        found = get_question.sync(question, client=client, wait_seconds=WAIT)
        if found.state != "open":
            return found


def checks_of(client: AuthenticatedClient, slug: str, checkin: str) -> CheckinStatus:
    """Waits until no check of a check-in is under way."""
    while True:
        found = get_checkin_status.sync(slug, client=client, checkin=checkin)
        if found.state not in ("pending", "unknown"):
            return found
        time.sleep(INTERVAL)


def landing_of(client: AuthenticatedClient, slug: str, review: int) -> Landing | None:
    """Waits until a review that shall land has landed, or came back from the queue.

    Returns None if nobody asked for it to land.
    """
    while True:
        queue = list_landings.sync(slug, client=client, per_page=100)
        landing = next((one for one in queue.landing if one.review == review), None)
        if landing is None or landing.status not in ("queued", "testing"):
            return landing
        time.sleep(INTERVAL)
