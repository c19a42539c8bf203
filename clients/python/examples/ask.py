"""Asks people a question, and waits for their answer.

python examples/ask.py QUESTION, with MUSTER_URL and MUSTER_TOKEN in the environment.
"""

import os
import sys

from muster_client import answer_to, connect
from muster_client.api.questions import ask_question
from muster_client.models import QuestionRequest

client = connect(os.environ["MUSTER_URL"], os.environ["MUSTER_TOKEN"])
request = QuestionRequest(text=sys.argv[1], choices=["yes", "no"])
question = answer_to(client, ask_question.sync(client=client, body=request).id)
print(question.answer if question.state == "answered" else f"The question is {question.state}")
