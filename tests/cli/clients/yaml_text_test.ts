import assert from "node:assert/strict";
import { parseYaml, setYaml } from "../../../cli/clients/yaml_text.ts";

const PATH = ["extensions", "muster"] as const;

/** A file as people have it: comments, odd spacing, long lines, other forms of lists. */
const OTHERS = `# my settings
active_provider: anthropic   # the good one
extensions:
    # about the developer
    developer:
        type: builtin
        args: [ "a",  'b' ]

    memory: {enabled: true}   # in one line
GOOSE_SEARCH_PATHS:
- "/usr/local/bin"
note: |
  extensions:
    muster: no
`;

Deno.test("a value is added, replaced and removed without touching another byte", () => {
  const added = setYaml(OTHERS, PATH, { cmd: "muster", args: ["mcp"] });
  const written = "    muster:\n      cmd: muster\n      args:\n        - mcp\n";
  assert.equal(added, OTHERS.replace("# in one line\n", `# in one line\n${written}`));
  const changed = setYaml(added, PATH, { cmd: "other", args: ["mcp"] });
  assert.equal(changed, added.replace("cmd: muster", "cmd: other"));
  assert.equal(setYaml(changed, PATH, undefined), OTHERS);
});

Deno.test("a parent appears with its first value and stays with its last", () => {
  assert.equal(setYaml("", PATH, { a: 1 }), "extensions:\n  muster:\n    a: 1\n");
  assert.equal(
    setYaml("mode: auto\n", PATH, { a: 1 }),
    "mode: auto\nextensions:\n  muster:\n    a: 1\n",
  );
  const only = "# mine\nextensions:\n  muster:\n    a: 1\n\n# more\nmode: auto\n";
  const emptied = setYaml(only, PATH, undefined);
  assert.equal(emptied, "# mine\nextensions: {}\n\n# more\nmode: auto\n");
  assert.equal(setYaml(emptied, PATH, { a: 1 }), only);
  const filled = setYaml("extensions:\nmode: auto\n", PATH, { a: 1 });
  assert.equal(filled, "extensions:\n  muster:\n    a: 1\nmode: auto\n");
  assert.equal(setYaml("mode: auto\n", PATH, undefined), "mode: auto\n");
});

Deno.test("an equal value leaves the text as it is, however it is written", () => {
  const text = 'extensions: {"muster": {a: 1}}\r\n';
  assert.equal(setYaml(text, PATH, { a: 1 }), text);
  assert.deepEqual(parseYaml(text), { extensions: { muster: { a: 1 } } });
  assert.equal(
    setYaml("extensions:\r\n  b: 1\r\n", PATH, 2),
    "extensions:\r\n  b: 1\r\n  muster: 2\r\n",
  );
});

for (
  const [text, message] of [
    ["a: [", "it is not valid YAML: see line 1"],
    ["- a", "it is not a YAML object"],
    ["extensions: {b: 1, c: 2}", /"extensions\.muster" cannot be edited/],
    ["extensions: [1]", /"extensions\.muster" cannot be edited/],
    ["extensions: &x\n  b: 1\nmore: *x", /"extensions\.muster" cannot be edited/],
  ] as const
) {
  Deno.test(`the text ${text.replaceAll("\n", " ")} is refused`, () => {
    assert.throws(() => setYaml(text, PATH, { a: 1 }), { name: "Unreadable", message });
  });
}
