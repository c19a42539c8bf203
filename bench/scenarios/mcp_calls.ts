import assert from "node:assert/strict";
import { startProgram } from "../../tests/support/program.ts";
import { StdioMcp } from "../../tests/support/stdio.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { median } from "../statistics.ts";

/** Calls on their way at the same time. */
const DEPTHS = [1, 16] as const;

const CALL = { name: "get_status", arguments: {} };

type Call = () => Promise<unknown>;

/** How many tools a client calls per second over HTTP, and over `muster mcp`, which forwards. */
export const MCP_CALLS: Scenario = {
  name: "mcp-calls",
  anyIrcServer: false,
  describe: ({ seconds, rounds }) =>
    `calls of get_status by one client for ${seconds} s, over HTTP and over muster mcp, which ` +
    `forwards them: ${DEPTHS.join(" and ")} at a time, the median of ${rounds} rounds`,
  measure: async ({ seconds, rounds }) => {
    await using program = await startProgram();
    await using stdio = new StdioMcp({ folder: program.folder });
    await stdio.initialize();
    const headers = { authorization: `Bearer ${program.token}` };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: CALL });
    const wires: readonly (readonly [string, Call])[] = [
      ["HTTP", async () => {
        const response = await fetch(program.mcp, { method: "POST", headers, body });
        assert.equal((await response.json()).result.isError, false);
      }],
      ["stdio", async () => {
        const { result } = await stdio.request("tools/call", CALL);
        assert.equal(result?.isError, false);
      }],
    ];
    const figures: Figure[] = [];
    for (const [wire, call] of wires) {
      for (const depth of DEPTHS) {
        await rateOf(call, depth, 0.5);
        const rates: number[] = [];
        for (let round = 0; round < rounds; round++) rates.push(await rateOf(call, depth, seconds));
        const name = `tool calls over ${wire}, ${depth} at a time`;
        figures.push({ name, value: median(rates), unit: "/s" });
      }
    }
    return figures;
  },
};

/** Calls per second. */
async function rateOf(call: Call, depth: number, seconds: number): Promise<number> {
  const started = performance.now();
  const end = started + seconds * 1000;
  let calls = 0;
  const caller = async () => {
    while (performance.now() < end) {
      await call();
      calls++;
    }
  };
  await Promise.all(Array.from({ length: depth }, caller));
  return calls / ((performance.now() - started) / 1000);
}
