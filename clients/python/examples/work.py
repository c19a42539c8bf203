"""An agent that takes the next free ticket of a project, writes a file, and has it reviewed.

python examples/work.py PROJECT, with MUSTER_URL and MUSTER_TOKEN in the environment.
"""

import os
import sys

from muster_client import connect
from muster_client.api.tickets import list_unclaimed_tickets, start_ticket, submit_ticket
from muster_client.api.workspaces import commit_to_workspace
from muster_client.models import FileChange, SubmitTicketBody, WorkspaceCommit

slug = sys.argv[1]
client = connect(os.environ["MUSTER_URL"], os.environ["MUSTER_TOKEN"])

free = list_unclaimed_tickets.sync(slug, client=client, limit=1).tickets
if not free:
    print("There is nothing to do")
for ticket in free:
    started = start_ticket.sync(slug, ticket.uuid, client=client)
    change = FileChange(path="NOTES.md", content=f"# {ticket.title}\n")
    commit = WorkspaceCommit(message=ticket.title, changes=[change])
    commit_to_workspace.sync(slug, started.workspace.name, client=client, body=commit)
    summary = SubmitTicketBody(summary=ticket.title)
    submit_ticket.sync(slug, ticket.uuid, client=client, body=summary)
    print(f"#{ticket.number} waits for a review")
