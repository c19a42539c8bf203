import assert from "node:assert/strict";
import { join } from "node:path";
import { PURPOSES } from "../../services/chat/policies/mod.ts";
import { withBots } from "../services/chat/bots/support.ts";
import { ROOT } from "./pages.ts";

const readBots = () => Deno.readTextFile(join(ROOT, "docs", "bots.md"));

Deno.test("the documentation says of each bot what the program says", async () => {
  const text = (await readBots()).replace(/\s+/g, " ");
  const missing = Object.entries(PURPOSES).filter(([bot, purpose]) =>
    bot !== "bridge" && !text.includes(purpose)
  );
  assert.deepEqual(missing, []);
});

Deno.test("the documentation names each command of each bot", () =>
  withBots(async (world) => {
    const sections = (await readBots()).split(/^## /m);
    const ann = await world.person("ann");
    for (const { name } of world.bots.list()) {
      await world.enable(name);
      ann.send(`PRIVMSG ${name} :help`);
      const line = await ann.expect(new RegExp(`^:${name}!.* Commands: .*"HELP command"`));
      const section = sections.find((section) => section.startsWith(name)) ?? "";
      const commands = / Commands: (.*)\. "HELP/.exec(line)?.[1]?.split(", ") ?? [];
      assert.ok(commands.length > 0, name);
      for (const command of commands) {
        assert.match(section, new RegExp(`\`${command}\\b`), `${name} ${command}`);
      }
    }
  }));
