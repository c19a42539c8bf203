import assert from "node:assert/strict";
import { COMMAND_LINE } from "../../cli/mod.ts";
import { findTarget } from "../../cli/command_line/parse.ts";
import { COMMANDS } from "../../cli/operation_table.ts";
import { fill } from "../../cli/operations.ts";
import { commandTable } from "../../scripts/command_table.ts";

Deno.test("the table of commands is what `deno task reference` writes", async () => {
  const place = new URL("../../cli/operation_table.ts", import.meta.url);
  const { COMMANDS: written } = await import(
    `data:text/javascript,${encodeURIComponent(plain(await commandTable()))}`
  );
  assert.deepEqual(COMMANDS, written);
  assert.match(await Deno.readTextFile(place), /^\/\*\* Written by `deno task reference`/);
});

/** A module without its types. */
function plain(text: string): string {
  return text.replace(/^import type .*$/m, "").replace(": readonly OperationCommand[]", "");
}

Deno.test("the command line has every command that an operation declares", async () => {
  assert.ok(COMMANDS.length > 40);
  for (const { at, about } of COMMANDS) {
    const target = await findTarget(COMMAND_LINE, at.split(" "));
    assert.equal(target?.summary, about, at);
  }
});

Deno.test("a template shows fields of the answer, or of the input, or says something else", () => {
  const answer = {
    name: "demo",
    seen: null,
    names: ["a", "b"],
    none: [],
    on: true,
    off: false,
    deep: { count: 0 },
    text: "two\nlines \u001b[2J",
    at: "2026-11-29T14:22:20.123Z",
  };
  const shows = (template: string, text: string) =>
    assert.equal(fill(template, answer, { name: "mine", slug: "own" }), text, template);
  shows("{name} of {slug}", "demo of own");
  shows('{seen|"never"}', "never");
  shows("{seen|name}", "demo");
  shows("{seen}", "");
  shows("{names}", "a b");
  shows("{names:commas}", "a, b");
  shows('{names:count} {none:count|"-"}', "2 -");
  shows("{on?yes|no} {off?yes|no}{off?, off}", "yes no");
  shows("{on} {off}", "yes no");
  shows("{deep.count} {deep.more}", "0 ");
  shows("{name}[ since {at:time}][ until {seen:time}]", "demo since 2026-11-29 14:22");
  shows("{at:second}", "2026-11-29 14:22:20");
  shows("{text:line}", "two lines \u241b[2J");
  shows("{constructor}{deep.toString}", "");
  assert.equal(fill("{}", "#general", {}), "#general");
});
