import assert from "node:assert/strict";
import { helpOf, parse } from "../../cli/command_line/mod.ts";
import { COMMAND_LINE } from "../../cli/mod.ts";

const REFERENCE = new URL("../../docs/commands.md", import.meta.url);

Deno.test("every command of the reference has a help that fits 80 columns", async () => {
  const text = await Deno.readTextFile(REFERENCE);
  const commands = Array.from(text.matchAll(/^#{3,5} muster (.+)$/gm), ([, words = ""]) => words);
  assert.ok(commands.length > 60);
  for (const words of ["", ...commands]) {
    const request = await parse(COMMAND_LINE, [...words.split(" ").filter(Boolean), "--help"]);
    assert.ok(request.kind === "help" && !request.isMisuse, words);
    const style = { width: 80, title: (title: string) => title, program: "muster" };
    const help = helpOf(COMMAND_LINE, request.target, style);
    assert.match(help, new RegExp(`^Usage: muster ${words}`, "m"));
    for (const line of help.split("\n")) {
      const isExample = line.startsWith("  npx ") || line.startsWith("  muster ");
      assert.ok(line.length <= 80 || isExample, line);
    }
  }
});
