"""Runs an agent of LangChain on a prompt, with muster's tools and the scripted model."""

import asyncio
import os
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    server = {"transport": "streamable_http", "url": os.environ["TOOLS_URL"], "headers": headers}
    tools = await MultiServerMCPClient({"muster": server}).get_tools()
    for tool in tools:
        tool.handle_tool_error = True
    model = ChatOpenAI(model="scripted", base_url=os.environ["MODEL_URL"], api_key="none")
    agent = create_agent(model, tools)
    result = await agent.ainvoke({"messages": [("user", sys.argv[1])]})
    print(result["messages"][-1].content)


asyncio.run(main())
