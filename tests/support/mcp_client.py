"""Drives the official Python client of MCP: a request per line of standard input, an answer per line.

The first line says how to connect: {"mode", "url", "authorization"} or {"mode", "command", "args",
"env"}. The others are calls of tools, {"name", "arguments"}, or {} for the list.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def run() -> None:
    options = json.loads(sys.stdin.readline())
    if "url" in options:
        headers = {"authorization": options["authorization"]}
        async with create_mcp_http_client(headers=headers) as http:
            await drive(streamable_http_client(options["url"], http_client=http), options["mode"])
    else:
        keys = ("command", "args", "env")
        await drive(StdioServerParameters(**{key: options[key] for key in keys}), options["mode"])


async def drive(server, mode: str) -> None:
    async with Client(server, mode=mode) as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            request = json.loads(line)
            if "name" not in request:
                tools = (await client.list_tools()).tools
                answer = {"revision": client.protocol_version, "tools": [tool.name for tool in tools]}
            else:
                result = await client.call_tool(request["name"], request["arguments"])
                answer = {
                    "failed": result.is_error,
                    "text": result.content[0].text,
                    "structured": result.structured_content,
                }
            print(json.dumps(answer), flush=True)


asyncio.run(run())
