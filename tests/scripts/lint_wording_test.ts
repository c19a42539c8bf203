import assert from "node:assert/strict";
import plugin from "../../scripts/lint/wording.ts";

Deno.test("the text of an error ends without a period", () => {
  const table = [
    ["services/people/agents/a.ts", 'new Invalid("The nick is taken.")', true],
    ["services/people/agents/a.ts", 'new Invalid("The nick is taken")', false],
    ["cli/a.ts", "new CommandFailed(`There is no ${name}.`, 2)", true],
    ["mcp/a.ts", 'new NotFound("Nobody is here. " + "Ask again.")', true],
    ["mcp/a.ts", 'new NotFound("Nobody is here. " + "Ask again")', false],
    ["mcp/a.ts", 'new NotFound("Nobody is here...")', false],
    ["cli/a.ts", 'new Text("A sentence.")', false],
    ["services/chat/irc_server/services/a.ts", 'new NotFound("There is none.")', false],
    ["tests/a.ts", 'new Error("A sentence.")', false],
  ] as const;
  for (const [path, code, broken] of table) {
    const rules = Deno.lint.runPlugin(plugin, path, `throw ${code};`).map(({ id }) => id);
    assert.deepEqual(rules, broken ? ["wording/error-period"] : [], `${path}: ${code}`);
  }
});

Deno.test("the summary of an endpoint ends without a period", () => {
  const table = [
    ['operation({ http: "GET /api/a", summary: "Lists agents." }, run)', true],
    ['serverOperation({ http: "GET /v1/a", summary: "Lists agents" }, run)', false],
    ['specialRoute("GET /api/a", { summary: `Pages. ` + "Newest first.", responses })', true],
    ['specialRoute("POST /api/a", { request: { body: json({ summary: "Done." }) } })', false],
    ['other("GET /v1/a", { summary: "Lists agents." })', false],
  ] as const;
  for (const [code, broken] of table) {
    const rules = Deno.lint.runPlugin(plugin, "routes/a.ts", `${code};`).map(({ id }) => id);
    assert.deepEqual(rules, broken ? ["wording/summary-period"] : [], code);
  }
});

Deno.test("comments and texts contain no phrase that reads badly", () => {
  const table = [
    ["/** @throws Conflict where the name is taken */", true],
    ["/** @throws Conflict if the name is taken */", false],
    ["/**\n * @throws NotFound\n * The folder where it starts.\n */", false],
    ["/** The owner; null where there is no account. */", true],
    ["// An account that no longer exists is null.", false],
    ['const sql = "value IS NOT NULL WHERE id = 1";', false],
    ['const text = "Whoever asks is answered";', true],
    ["const text = `${name} is kept for ever`;", true],
    ["/** The files of a check-in in one file. */", false],
    ["/** Takes the the rest. */", true],
  ] as const;
  for (const [code, broken] of table) {
    const rules = Deno.lint.runPlugin(plugin, "services/a.ts", code).map(({ id }) => id);
    assert.deepEqual(rules, broken ? ["wording/plain-words"] : [], code);
  }
});
