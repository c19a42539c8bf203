/** The MCP Inspector calls tools over both wires, in both eras of the protocol. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { driveTools, startWithProject } from "../support/driven_project.ts";
import type { Wire } from "../support/foreign_mcp.ts";
import { inspectorFolder, openInspector } from "../support/inspector.ts";
import { peer } from "../support/peers.ts";
import { withFolder } from "../support/temporary.ts";

const WIRES: readonly Wire[] = ["HTTP", "stdio"];

const ERAS = ["legacy", "modern"] as const;

/**
 * What it calls over stdio, where each call starts `muster mcp` anew: tools with every kind of
 * argument, and one that refuses. It calls all tools over HTTP; `mcp_clients_test.ts` calls all of
 * them over stdio, too.
 */
const OVER_STDIO = [
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

Deno.test(
  "the Inspector's command line calls tools over both wires, and every tool over HTTP",
  peer("mcp clients"),
  async (test) => {
    const { program, token } = await startWithProject();
    await using _ = program;
    await withFolder(async (home) => {
      for (const wire of WIRES) {
        for (const era of ERAS) {
          await test.step(`over ${wire}, ${era} era`, async () => {
            await using inspector = openInspector({ program, wire, token, era, home });
            const chosen = wire === "stdio" ? OVER_STDIO : undefined;
            await driveTools(inspector, `${wire}-${era}`, chosen);
          });
        }
      }
      await test.step("as a program of its own", async () => {
        const launcher = join(inspectorFolder(), "clients", "launcher", "build", "index.js");
        const place = [program.mcp, "--header", `Authorization: Bearer ${token}`];
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
