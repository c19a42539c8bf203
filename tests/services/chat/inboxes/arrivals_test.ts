import assert from "node:assert/strict";
import { isAddressed, readAddressees } from "../../../../services/chat/inboxes/arrivals.ts";

function addresses(text: string, nick = "scout", type = "worker"): boolean {
  return isAddressed(readAddressees(text), { nick, type });
}

function envelope(to: unknown): string {
  return JSON.stringify({ v: 1, type: "task.create", id: "1", from: "ann", to, payload: "scout" });
}

Deno.test("a text mentions agents by nick as a separate word, or by group", () => {
  for (
    const text of [
      "scout",
      "SCOUT: hello",
      "hello, scout.",
      "ask @scout!",
      "(scout)",
      "[scout] hi",
      "scout's work",
      "...scout...",
      "is it you,scout?",
      "@all",
      "hi @ALL: listen",
      "@worker",
      "@workers, @observers",
      "@sco*",
      "@scout*",
    ]
  ) assert.ok(addresses(text), text);
  for (
    const text of [
      "",
      "scouting",
      "the scouts",
      "scout-2 is up",
      "my_scout",
      "src/scout",
      "scout/index.ts",
      "scout.js",
      "http://scout.example/",
      "C:\\scout",
      "all of you",
      "worker",
      "mail bob@all.example",
      "@allies",
      "@all.example",
      "@observers",
      "@scoutmaster*",
      "*",
    ]
  ) assert.ok(!addresses(text), text);
});

Deno.test("a nick with unusual characters is found too", () => {
  for (const nick of ["[bot]", "a|b", "x^_^", "`tick`", "back\\slash"]) {
    assert.ok(addresses(`well, ${nick}: hello`, nick), nick);
    assert.ok(!addresses(`well, z${nick}z hello`, nick), nick);
  }
});

Deno.test("an envelope addresses the names in its `to`", () => {
  for (
    const to of [["scout"], ["Scout"], ["@all"], ["@workers"], ["@worker"], ["x", "@sc*"], [
      "@scout",
    ]]
  ) {
    assert.ok(addresses(envelope(to)), JSON.stringify(to));
  }
  for (
    const to of [
      undefined,
      [],
      ["other"],
      ["@observers"],
      ["scout-*"],
      ["@scout-*"],
      "scout",
      [1],
      null,
    ]
  ) {
    assert.ok(!addresses(envelope(to)), JSON.stringify(to));
  }
  assert.ok(addresses(envelope(["@scout-*"]), "scout-7"));
});
