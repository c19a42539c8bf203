/** Events over MCP (SEP-3415), for a client that others wrote. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call } from "../support/api.ts";
import { startWithProject } from "../support/driven_project.ts";
import { LineClient } from "../support/line_client.ts";
import { mcpClients, peer } from "../support/peers.ts";
import type { Program } from "../support/program.ts";
import { startProgram } from "../support/program.ts";

interface Answer {
  readonly value?: ReturnType<typeof JSON.parse>;
  readonly error?: string;
}

async function ticket(program: Program, title: string): Promise<void> {
  const path = "/projects/demo/fossil/api/tickets";
  assert.ok((await call(program, "POST", path, { title })).ok);
}

Deno.test({
  name: "the client of the AI SDK subscribes, verifies what comes, and renews after a restart",
  ...peer("mcp clients"),
  async fn() {
    const environment = { MUSTER_WEBHOOKS_ALLOW_PRIVATE: "true" };
    const { program: first, token } = await startWithProject({ environment });
    const script = join(import.meta.dirname ?? ".", "..", "support", "ai_sdk_events.mjs");
    const module = join(mcpClients(), "node_modules", "@ai-sdk", "mcp", "dist", "index.js");
    const client = new LineClient<Answer>("node", [script, module, first.mcp, token], {});
    const ask = async (does: string, given: object = {}) => {
      const { value, error } = await client.ask({ does, ...given });
      assert.equal(error, undefined);
      return value;
    };
    await using _client = { [Symbol.asyncDispose]: () => client.close() };
    assert.ok((await ask("list")).includes("project.ticket"));
    const interest = { name: "project.ticket", input: { project: "demo" } };
    const { id, truncated } = await ask("subscribe", interest);
    assert.equal(truncated, false);
    await ticket(first, "One");
    const { what, event, subscription } = await ask("next");
    assert.deepEqual([what, event.data.title, subscription.id], ["event", "One", id]);

    // What happened while the server knew nothing of the subscription comes after its renewal.
    const { folder, api, mcp } = first;
    await first.stop("SIGKILL");
    const addresses = { MUSTER_API_ADDR: new URL(api).host, MUSTER_MCP_ADDR: new URL(mcp).host };
    await using program = await startProgram({
      folder,
      environment: { ...environment, ...addresses },
    });
    await ticket(program, "Two");
    assert.equal((await ask("refresh", { id })).id, id);
    assert.equal((await ask("next")).event.data.title, "Two");

    await ask("unsubscribe", { id });
    await ask("subscribe", interest);
    assert.ok((await call(program, "DELETE", "/v1/projects/demo/members/scout")).ok);
    const end = await ask("next");
    assert.deepEqual([end.what, end.termination.error.code], ["terminated", -32012]);
  },
});
