/** The MCP Inspector calls every tool, over both wires and in both eras of the protocol. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { driveTools, startWithProject } from "../support/driven_project.ts";
import type { Wire } from "../support/foreign_mcp.ts";
import { inspectorFolder, openInspector } from "../support/inspector.ts";
import { peer } from "../support/peers.ts";
import { withFolder } from "../support/temporary.ts";

const WIRES: readonly Wire[] = ["HTTP", "stdio"];

const ERAS = ["legacy", "modern"] as const;

Deno.test("the Inspector's command line calls every tool", peer("mcp clients"), async (test) => {
  const { program, token } = await startWithProject();
  await using _ = program;
  await withFolder(async (home) => {
    for (const wire of WIRES) {
      for (const era of ERAS) {
        await test.step(`over ${wire}, ${era} era`, async () => {
          await using inspector = openInspector({ program, wire, token, era, home });
          await driveTools(inspector, `${wire}-${era}`);
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
});
