/** The MCP Inspector calls tools over both wires, in both eras of the protocol. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { driveTools, startWithProject } from "../support/driven_project.ts";
import { everyTool, type Wire } from "../support/foreign_mcp.ts";
import { type Era, inspectorFolder, openInspector } from "../support/inspector.ts";
import { peer } from "../support/peers.ts";
import { withFolder } from "../support/temporary.ts";

/**
 * What it calls where it does not call every tool: tools with every kind of argument, and one that
 * refuses. Each call makes a connection, over stdio with a new `muster mcp`. The wire and the era
 * decide on the connection alone, not on how words become arguments; and `mcp_clients_test.ts` calls
 * every tool over both wires in both eras.
 */
const CHOSEN = [
  "get_status",
  "post",
  "get_history",
  "acknowledge_messages",
  "create_ticket",
  "list_tickets",
  "claim_ticket",
  "create_workspace",
  "commit_files",
  "take_over_workspace",
];

/** Where it calls what; all tools if none is named. */
const RUNS: readonly { wire: Wire; era: Era; chosen?: readonly string[] }[] = [
  { wire: "HTTP", era: "modern" },
  { wire: "HTTP", era: "legacy", chosen: CHOSEN },
  { wire: "stdio", era: "modern", chosen: CHOSEN },
  { wire: "stdio", era: "legacy", chosen: CHOSEN },
];

Deno.test(
  "the Inspector's command line calls tools over both wires in both eras, and every tool once",
  peer("mcp clients"),
  async (test) => {
    const { program, token } = await startWithProject();
    await using _ = program;
    await withFolder(async (home) => {
      for (const { wire, era, chosen } of RUNS) {
        await test.step(`over ${wire}, ${era} era`, async () => {
          await using inspector = openInspector({ program, wire, token, era, home });
          await driveTools(inspector, `${wire}-${era}`, chosen);
        });
      }
      await test.step("as a program of its own", async () => {
        const launcher = join(inspectorFolder(), "clients", "launcher", "build", "index.js");
        const place = [everyTool(program).href, "--header", `Authorization: Bearer ${token}`];
        const { code, stdout, stderr } = await new Deno.Command("node", {
          args: [launcher, "--cli", ...place, "--transport", "http", "--method", "tools/list"],
          env: { HOME: home, NO_COLOR: "1" },
          stdin: "null",
        }).output();
        const text = new TextDecoder().decode(stdout);
        assert.equal(code, 0, new TextDecoder().decode(stderr) + text);
        assert.match(text, /"get_status"/);
      });
    });
  },
);
