import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import {
  Conflict,
  Invalid,
  NotFound,
  TimedOut,
  TooLarge,
  Unavailable,
} from "../../../../services/kernel/errors.ts";
import { FossilError } from "../../../../services/engines/fossil/mod.ts";
import { serviceErrorOf } from "../../../../services/work/projects/mod.ts";

Deno.test("every error of the Fossil engine is an error of the services", () => {
  const table = [
    ["invalid", Invalid],
    ["ambiguous", Invalid],
    ["missing", NotFound],
    ["conflict", Conflict],
    ["limit", TooLarge],
    ["timeout", TimedOut],
    ["unavailable", Unavailable],
    ["corrupt", Unavailable],
    ["unsupported", Unavailable],
  ] as const;
  for (const [code, type] of table) {
    const error = new FossilError(code, "what is wrong");
    const translated = serviceErrorOf(error);
    assert.ok(translated instanceof type, code);
    assert.equal(translated.message, "what is wrong");
    assert.equal(translated.cause, error);
  }
});

Deno.test("errors of SQLite and the system name no path unless asked to", () => {
  using database = new DatabaseSync(":memory:");
  database.exec("PRAGMA query_only=ON");
  const refusals = [
    caught(() => database.exec("CREATE TABLE x(y)")),
    caught(() => new DatabaseSync("/nowhere/at/all")),
    caught(() => Deno.openSync("/nowhere/at/all")),
  ];
  for (const error of refusals) {
    const translated = serviceErrorOf(error);
    assert.ok(translated instanceof Unavailable);
    assert.match(translated.message, /^The repository cannot be /);
    assert.doesNotMatch(translated.message, /nowhere/);
    assert.match(serviceErrorOf(error, '"x.fossil"')?.message ?? "", /^"x\.fossil" cannot be /);
  }
});

Deno.test("errors of the engine about a file name no path unless asked to", () => {
  const table = [
    ['"/srv/data/x.fossil" is not an SQLite database', "The repository is not an SQLite database"],
    [
      'Cannot open "/srv/data/x.fossil": "config" is a view',
      'Cannot open the repository: "config" is a view',
    ],
  ] as const;
  for (const [message, shown] of table) {
    const error = new FossilError("unsupported", message);
    assert.equal(serviceErrorOf(error)?.message, shown);
    assert.equal(serviceErrorOf(error, '"/srv/data/x.fossil"')?.message, message);
  }
});

Deno.test("a bug stays a bug", () => {
  assert.equal(serviceErrorOf(new TypeError("x is not a function")), null);
});

function caught(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("It was not refused");
}
