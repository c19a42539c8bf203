import assert from "node:assert/strict";
import { addHooks, removeHooks } from "../../../cli/clients/hook_entries.ts";
import { parseJson, setJson } from "../../../cli/clients/json_text.ts";

const OTHERS = `{
    // my servers
    "mcpServers": {
        "docs": { "command": "docs" }, /* keep */
    },
    "theme": "dark", // best
}
`;

Deno.test("a value is set and removed; comments, commas and indentation stay", () => {
  const added = setJson(OTHERS, ["mcpServers", "muster"], { command: "muster", args: ["mcp"] });
  assert.match(added, /^ {4}\/\/ my servers$/m);
  assert.match(added, /\/\* keep \*\//);
  assert.match(added, /^ {4}"theme": "dark", \/\/ best$/m);
  assert.match(added, /^ {8}"muster": \{\n {12}"command": "muster",$/m);
  assert.deepEqual(parseJson(added)["mcpServers"], {
    docs: { command: "docs" },
    muster: { command: "muster", args: ["mcp"] },
  });
  const removed = setJson(added, ["mcpServers", "muster"], undefined);
  assert.deepEqual(parseJson(removed), parseJson(OTHERS));
  assert.match(removed, /\/\* keep \*\//);
});

Deno.test("an equal value leaves the text as it is", () => {
  assert.equal(setJson(OTHERS, ["mcpServers", "docs"], { command: "docs" }), OTHERS);
});

for (
  const [text, message] of [
    ['{\n  "a": \n}', "it is not valid JSON: see line 3"],
    ["[]", "it is not a JSON object"],
    [`{"a": ${"[".repeat(50_000)}`, "its values are nested too deeply"],
    ['{"mcpServers": []}', 'the type of "mcpServers" is unexpected'],
    ['{"mcpServers": {}, "mcpServers": {"a": 1}}', 'it names "mcpServers.muster" twice'],
  ] as const
) {
  Deno.test(`the text ${text.replaceAll(/\s+/g, " ").slice(0, 60)} is refused`, () => {
    assert.throws(() => setJson(text, ["mcpServers", "muster"], { command: "x" }), {
      name: "Unreadable",
      message,
    });
  });
}

const HOOKS = {
  events: ["Start", "Stop"],
  command: "muster hook claude --url http://a",
  timeout: 5,
  mark: "hook claude --url",
};

Deno.test("hooks join those of others, are replaced in their place and leave nothing behind", () => {
  const others = '{"hooks": {"Start": [{"matcher": "x", "hooks": [{"type": "command", ' +
    '"command": "mine"}]}]}, "a": 1}';
  const added = addHooks(HOOKS)(others);
  const own = { hooks: [{ type: "command", command: HOOKS.command, timeout: 5 }] };
  assert.deepEqual(parseJson(added)["hooks"], {
    Start: [{ matcher: "x", hooks: [{ type: "command", command: "mine" }] }, own],
    Stop: [own],
  });
  assert.equal(addHooks(HOOKS)(added), added);
  const moved = addHooks({ ...HOOKS, command: "muster hook claude --url http://b" })(added);
  assert.equal(moved, added.replaceAll("http://a", "http://b"));
  assert.deepEqual(parseJson(removeHooks(HOOKS.mark)(moved)), parseJson(others));
  assert.deepEqual(parseJson(removeHooks(HOOKS.mark)(addHooks(HOOKS)("{}"))), {});
});

Deno.test("hooks of an unexpected type are refused", () => {
  assert.throws(() => addHooks(HOOKS)('{"hooks": {"Start": {}}}'), {
    message: 'the type of "hooks.Start" is unexpected',
  });
});
