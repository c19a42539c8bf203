import { HttpClient } from "../client/mod.ts";
import { delay } from "../parallel.ts";
import { familyMemory } from "../process_usage.ts";
import { registerAgents } from "../servers/mod.ts";
import type { Scenario } from "../scenarios/mod.ts";
import { isToolResult, toolCall } from "./requests.ts";
import { coordinationRow } from "./row.ts";

/** Pause before each measurement, in which all servers are up and nobody uses them. */
const SETTLE_MILLISECONDS = 3000;

const MEGABYTE = 1024 * 1024;

const MEMORY = coordinationRow({
  name: "memory",
  columns: [
    { key: "pss", name: "idle memory, PSS", unit: "MB", aim: 80 },
    { key: "rss", name: "idle memory, RSS", unit: "MB", aim: 75 },
  ],
  isOfNewServers: true,
  describe: () =>
    `all processes, at least ${SETTLE_MILLISECONDS / 1000} s after the start, all servers up`,
  on: ({ pids }) => async () => {
    await delay(SETTLE_MILLISECONDS);
    const { proportionalBytes, residentBytes } = await familyMemory(pids);
    return { pss: proportionalBytes / MEGABYTE, rss: residentBytes / MEGABYTE };
  },
});

const FIRST_CALL = coordinationRow({
  name: "first-call",
  columns: [{ key: "time", name: "first MCP call", unit: "ms", aim: 15 }],
  isOfNewServers: true,
  describe: () =>
    `get_status over an open connection, at least ${
      SETTLE_MILLISECONDS / 1000
    } s after the start, ` +
    "on a server with an agent, all servers up",
  on: async (server) => {
    const { mcp, token } = server;
    await registerAgents(server, ["caller"]);
    return async () => {
      await delay(SETTLE_MILLISECONDS);
      using client = await HttpClient.open(mcp);
      const body = toolCall("get_status", {});
      const request = HttpClient.format({ method: "POST", path: "/mcp", token, body });
      const startedAt = performance.now();
      const { text } = await client.ask(request, true);
      const time = performance.now() - startedAt;
      if (!isToolResult(text)) throw new Error(text.slice(0, 200));
      return { time };
    };
  },
});

/** The cost of muster and its peers while nobody uses them, and of the first call. */
export const FOOTPRINT_ROWS: readonly Scenario[] = [MEMORY, FIRST_CALL];
