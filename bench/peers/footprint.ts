import { HttpClient } from "../client/mod.ts";
import { delay } from "../parallel.ts";
import { proportionalBytes, usageOf } from "../process_usage.ts";
import { registerAgents } from "../servers/mod.ts";
import type { Scenario } from "../scenarios/mod.ts";
import { isToolResult, toolCall } from "./requests.ts";
import { coordinationRow, repeat } from "./row.ts";

/** Pause after a server's start, in milliseconds. */
const SETTLE_MILLISECONDS = 3000;

const MEGABYTE = 1024 * 1024;

const MEMORY = coordinationRow({
  name: "memory",
  columns: [
    { key: "pss", name: "idle memory, PSS", unit: "MB", aim: 80 },
    { key: "rss", name: "idle memory, RSS", unit: "MB", aim: 75 },
  ],
  describe: () => `all processes, ${SETTLE_MILLISECONDS / 1000} s after the start`,
  on: (kind) =>
    repeat(async () => {
      await using server = await kind.start();
      await delay(SETTLE_MILLISECONDS);
      const parts = await Promise.all(server.pids.map(proportionalBytes));
      const { residentBytes } = await usageOf(server.pids);
      return {
        pss: parts.reduce((sum, bytes) => sum + bytes, 0) / MEGABYTE,
        rss: residentBytes / MEGABYTE,
      };
    }),
});

const FIRST_CALL = coordinationRow({
  name: "first-call",
  columns: [{ key: "time", name: "first MCP call", unit: "ms", aim: 15 }],
  describe: () =>
    `get_status over an open connection, ${SETTLE_MILLISECONDS / 1000} s after the start, on a ` +
    "server with an agent",
  on: (kind) =>
    repeat(async () => {
      await using server = await kind.start();
      const { mcp, token } = server;
      await registerAgents(server, ["caller"]);
      await delay(SETTLE_MILLISECONDS);
      using client = await HttpClient.open(mcp);
      const body = toolCall("get_status", {});
      const request = HttpClient.format({ method: "POST", path: "/mcp", token, body });
      const startedAt = performance.now();
      const { text } = await client.ask(request, true);
      const time = performance.now() - startedAt;
      if (!isToolResult(text)) throw new Error(text.slice(0, 200));
      return { time };
    }),
});

/** The cost of muster and its peers while nobody uses them, and of the first call. */
export const FOOTPRINT_ROWS: readonly Scenario[] = [MEMORY, FIRST_CALL];
