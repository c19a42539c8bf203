import assert from "node:assert/strict";
import { parseJson, readTable, setJson, setTable } from "../../../cli/clients/config_text.ts";
import { addHooks, removeHooks } from "../../../cli/clients/hook_entries.ts";

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

Deno.test("an entry is removed from a list, and those behind it move up", () => {
  const text = setJson('{ "list": ["a", "b", "c"] }', ["list", 0], undefined);
  assert.deepEqual(parseJson(text), { list: ["b", "c"] });
  const one = { hooks: [{ type: "command", command: "muster hook x --url u" }] };
  const others = { hooks: [{ type: "command", command: "other" }] };
  const hooks = JSON.stringify({ hooks: { Stop: [one, others] } });
  assert.deepEqual(parseJson(removeHooks("hook x --url")(hooks)), { hooks: { Stop: [others] } });
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

Deno.test("hooks of a client without groups stand in the lists themselves", () => {
  const flat = { ...HOOKS, isFlat: true };
  const others = '{"hooks": {"Start": [{"type": "command", "command": "mine"}]}}';
  const own = { type: "command", command: HOOKS.command, timeout: 5 };
  const added = addHooks(flat)(others);
  assert.deepEqual(parseJson(added)["hooks"], {
    Start: [{ type: "command", command: "mine" }, own],
    Stop: [own],
  });
  assert.equal(addHooks(flat)(added), added);
  assert.deepEqual(parseJson(removeHooks(HOOKS.mark)(added)), parseJson(others));
});

Deno.test("hooks of an unexpected type are refused", () => {
  assert.throws(() => addHooks(HOOKS)('{"hooks": {"Start": {}}}'), {
    message: 'the type of "hooks.Start" is unexpected',
  });
});

const PATH = ["mcp_servers", "muster"] as const;

/** A file as people have it: comments, other servers, dates, nested lists, odd spacing. */
const OTHER_TABLES = `# my settings
model = "o5"   # the good one
started = 2026-11-22T10:00:00Z
matrix = [
  [1, 2],
  [3]
]

[mcp_servers.docs] # mine
command = "docs"

  [mcp_servers.docs.env]
  NOTE = """
[mcp_servers.other]
"""

# about the profile
[profiles.fast]
model = "o5-mini"
`;

Deno.test("a table is appended, replaced and removed without touching another byte", () => {
  const added = setTable(OTHER_TABLES, PATH, { command: "muster", args: ["mcp"], env: { A: "1" } });
  assert.equal(
    added,
    `${OTHER_TABLES}
[mcp_servers.muster]
command = "muster"
args = [ "mcp" ]

[mcp_servers.muster.env]
A = "1"
`,
  );
  const changed = setTable(added, PATH, { command: "muster", args: ["mcp"], env: { A: "2" } });
  assert.equal(changed, added.replace('A = "1"', 'A = "2"'));
  assert.equal(setTable(changed, PATH, undefined), OTHER_TABLES);
});

Deno.test("an equal table leaves the text as it is, however it is written", () => {
  const text = "[ mcp_servers . 'muster' ]\ncommand='muster' # here\n";
  assert.equal(setTable(text, PATH, { command: "muster" }), text);
  assert.deepEqual({ ...readTable(text, PATH) }, { command: "muster" });
});

Deno.test("a table between others is replaced in its place, with its scattered subtables", () => {
  const text = `[mcp_servers.muster]
command = "old"
args = [
  "a",
]
# about b
[b]
x = 1

[mcp_servers.muster.env]
A = "1"

[c]
y = 2
`;
  assert.equal(
    setTable(text, PATH, { url: "http://x" }),
    `[mcp_servers.muster]
url = "http://x"
# about b
[b]
x = 1

[c]
y = 2
`,
  );
});

Deno.test("line ends of Windows stay", () => {
  const added = setTable('a = 1\r\n[b]\r\nc = "d"\r\n', PATH, { url: "u" });
  assert.equal(added, 'a = 1\r\n[b]\r\nc = "d"\r\n\r\n[mcp_servers.muster]\r\nurl = "u"\r\n');
});

for (
  const [what, text] of [
    ["an inline table", 'mcp_servers = { muster = { command = "old" } }\n'],
    ["dotted keys", 'mcp_servers.muster.command = "old"\n'],
    ["a key of the parent", '[mcp_servers]\nmuster = { command = "old" }\n'],
  ] as const
) {
  Deno.test(`an entry written as ${what} is refused, not written twice`, () => {
    assert.throws(
      () => setTable(text, PATH, { command: "muster" }),
      {
        name: "Unreadable",
        message: /^"mcp_servers\.muster" has no table header of its own: remove it/,
      },
    );
  });
}

Deno.test("a table that cannot stand beside the others is refused, with what to do", () => {
  const texts = [
    'mcp_servers = { docs = { command = "docs" } }\n',
    'notes = """\n[mcp_servers.muster]\n"""\n',
  ];
  for (const text of texts) {
    assert.throws(() => setTable(text, PATH, { command: "muster" }), {
      name: "Unreadable",
      message: /^a table \[mcp_servers\.muster\] cannot be added to it: write what --print shows/,
    });
  }
});

Deno.test("what is not TOML is refused with its line", () => {
  assert.throws(() => setTable("a = 1\nb = [\n", PATH, { command: "x" }), {
    name: "Unreadable",
    message: /^it is not valid TOML: see line [23]$/,
  });
});
