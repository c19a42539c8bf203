import assert from "node:assert/strict";
import plugin from "../../scripts/lint/wording.ts";

Deno.test("the text of an error ends without a period", () => {
  const table = [
    ["services/agents/a.ts", 'new Invalid("The nick is taken.")', true],
    ["services/agents/a.ts", 'new Invalid("The nick is taken")', false],
    ["cli/a.ts", "new CommandFailed(`There is no ${name}.`, 2)", true],
    ["mcp/a.ts", 'new NotFound("Nobody is here. " + "Ask again.")', true],
    ["mcp/a.ts", 'new NotFound("Nobody is here. " + "Ask again")', false],
    ["mcp/a.ts", 'new NotFound("Nobody is here...")', false],
    ["cli/a.ts", 'new Text("A sentence.")', false],
    ["services/irc_server/services/a.ts", 'new NotFound("There is none.")', false],
    ["tests/a.ts", 'new Error("A sentence.")', false],
  ] as const;
  for (const [path, code, broken] of table) {
    const rules = Deno.lint.runPlugin(plugin, path, `throw ${code};`).map(({ id }) => id);
    assert.deepEqual(rules, broken ? ["wording/error-period"] : [], `${path}: ${code}`);
  }
});
