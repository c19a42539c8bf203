"""Answers each message in an agent's inbox, until it reads "stop".

python examples/answer.py NICK, with MUSTER_URL and MUSTER_TOKEN in the environment.
"""

import os
import sys

from muster_client import connect, follow_inbox
from muster_client.api.agents import send_to_agent
from muster_client.models import DirectMessageRequest

nick = sys.argv[1]
client = connect(os.environ["MUSTER_URL"], os.environ["MUSTER_TOKEN"])

for message in follow_inbox(client, nick):
    print(f"{message.from_}: {message.text}", flush=True)
    if message.text == "stop":
        break
    if isinstance(message.reply_to, str):
        body = DirectMessageRequest(text=f"You said: {message.text}")
        send_to_agent.sync(message.reply_to, client=client, body=body)
