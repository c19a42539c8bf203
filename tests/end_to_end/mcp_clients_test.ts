/** Official clients of MCP call every tool, over both wires and in both eras of the protocol. */
import assert from "node:assert/strict";
import { driveTools, startWithProject } from "../support/driven_project.ts";
import { FOREIGN_CLIENTS, type Wire } from "../support/foreign_mcp.ts";
import { peer } from "../support/peers.ts";

const WIRES: readonly Wire[] = ["HTTP", "stdio"];

Deno.test("the clients of the SDKs call every tool over HTTP and stdio, in both eras", async (test) => {
  const { program, token } = await startWithProject();
  await using _ = program;
  for (const [index, { name, revision, peers, connect }] of FOREIGN_CLIENTS.entries()) {
    const ignore = peers.some((program) => peer(program).ignore);
    for (const wire of WIRES) {
      await test.step({
        name: `${name} over ${wire}`,
        ignore,
        fn: async () => {
          await using connection = await connect(program, wire, token);
          assert.equal(connection.revision, revision);
          await driveTools(connection, `${wire}-${index}`);
        },
      });
    }
  }
  await test.step("the operator's tools beyond an agent's", async () => {
    const [older] = FOREIGN_CLIENTS;
    for (const wire of WIRES) {
      await using connection = await older!.connect(program, wire, program.token);
      const nick = `made-over-${wire.toLowerCase()}`;
      const made = await connection.call("register_agent", { nick });
      assert.equal(made.failed, false, made.text);
      const inbox = await connection.call("read_inbox", { agent: "scout" });
      assert.equal(inbox.failed, false, inbox.text);
    }
  });
});
