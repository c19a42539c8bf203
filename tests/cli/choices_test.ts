import assert from "node:assert/strict";
import { choicesOf, parse, UsageError } from "../../cli/command_line/mod.ts";
import { COMMAND_LINE } from "../../cli/mod.ts";

Deno.test("a value that must be one of a few is listed in the help", () => {
  const parameters = [{ usage: "<project>" }, { usage: "[role]", choices: ["read", "write"] }];
  const run = () => {};
  assert.deepEqual(choicesOf({ parameters, run }), ["The role is one of: read, write."]);
  assert.deepEqual(choicesOf({ run }), []);
});

Deno.test("the error for a missing value says what it may be", async () => {
  await assert.rejects(parse(COMMAND_LINE, ["completion"]), (error) => {
    assert.ok(error instanceof UsageError);
    assert.equal(error.message.split("\n")[0], "<shell> is missing: one of bash, zsh, fish");
    return true;
  });
  await assert.rejects(parse(COMMAND_LINE, ["agent", "show"]), /^UsageError: <nick> is missing$/m);
});
