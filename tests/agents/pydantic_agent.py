"""Runs an agent of Pydantic AI on a prompt, with muster's tools and the scripted model."""

import asyncio
import os
import sys

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    server = MCPToolset(os.environ["TOOLS_URL"], headers=headers, read_timeout=90, max_retries=3)
    provider = OpenAIProvider(base_url=os.environ["MODEL_URL"], api_key="none")
    agent = Agent(OpenAIChatModel("scripted", provider=provider), toolsets=[server])
    async with agent:
        result = await agent.run(sys.argv[1])
        print(result.output)


asyncio.run(main())
