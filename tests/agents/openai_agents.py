"""Runs an agent of the OpenAI Agents SDK on a prompt, with muster's tools and the scripted model."""

import asyncio
import os
import sys

from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI


async def main() -> None:
    set_tracing_disabled(True)
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    model = OpenAIResponsesModel(
        model="scripted",
        openai_client=AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="none"),
    )
    params = {"url": os.environ["TOOLS_URL"], "headers": headers, "timeout": 60}
    async with MCPServerStreamableHttp(
        params=params,
        client_session_timeout_seconds=90,
        # By default the model reads that there was an error, and not which.
        failure_error_function=lambda _context, error: str(error),
    ) as server:
        agent = Agent(name="scout", model=model, mcp_servers=[server])
        result = await Runner.run(agent, sys.argv[1], max_turns=20)
        print(result.final_output)


asyncio.run(main())
