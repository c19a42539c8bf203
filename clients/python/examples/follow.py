"""Prints what is said in a channel, until somebody says "stop".

python examples/follow.py CHANNEL [SINCE], with MUSTER_URL and MUSTER_TOKEN in the environment.
"""

import os
import sys

from muster_client import connect, follow_channel

channel, since = sys.argv[1], next(iter(sys.argv[2:]), None)
client = connect(os.environ["MUSTER_URL"], os.environ["MUSTER_TOKEN"])

for event in follow_channel(client, channel, since=since):
    if event.event != "message":
        continue
    print(f"{event.data['nick']}: {event.data['text']}", flush=True)
    if event.data["text"] == "stop":
        break
