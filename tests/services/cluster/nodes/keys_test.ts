import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseError } from "../../../../services/engines/database/mod.ts";
import { Conflict } from "../../../../services/kernel/errors.ts";
import { OPERATOR, SecretFileError } from "../../../../services/people/identity/mod.ts";
import { copyKeys, testNodes } from "../../../support/nodes.ts";
import { textsOf } from "../../../support/postgres.ts";
import { BY_OPERATOR, type TestServices } from "../../../support/services.ts";

const ADDRESS = "192.0.2.1";
const PINNED = "chosen-by-the-operator-0123456789";

function tokenOf({ folder }: TestServices): Promise<string> {
  return Deno.readTextFile(join(folder, "api_token"));
}

async function opens({ identity }: TestServices, token: string): Promise<boolean> {
  const found = await identity.authenticate({ kind: "bearer", token }, ADDRESS).catch(() => null);
  return found === OPERATOR;
}

/** Checks that something is refused, in one sentence. */
async function refused(
  work: Promise<unknown>,
  kind: typeof DatabaseError | typeof SecretFileError,
  said: RegExp,
): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof kind, String(error));
    assert.match(error.message, said);
    assert.ok(!error.message.includes("\n") && !error.message.endsWith("."), error.message);
    return true;
  });
}

testNodes("a node needs the keys of the others", async ({ open, openAsIs, folderOf, url }) => {
  await open("one");
  const lacking = /lacks the files "event_key", "network_key", and "token_key", .* node "one"$/;
  await refused(openAsIs("two"), DatabaseError, lacking);
  for (const name of ["event_key", "network_key", "token_key"]) {
    await assert.rejects(Deno.stat(join(folderOf("two"), name)), Deno.errors.NotFound);
  }

  await copyKeys(folderOf("one"), folderOf("two"));
  await Deno.writeTextFile(join(folderOf("two"), "token_key"), "0".repeat(64));
  const other = /the file "token_key" differs from that of the other nodes: copy it from .*"one"$/;
  await refused(openAsIs("two"), DatabaseError, other);

  await Deno.remove(join(folderOf("two"), "token_key"));
  await refused(openAsIs("two"), DatabaseError, /lacks the file "token_key".*copy it from/);
  await open("two");
  const texts = await textsOf(url);
  const key = await Deno.readTextFile(join(folderOf("one"), "token_key"));
  assert.ok(!texts.includes(key));
});

testNodes("nodes have one API token, which one of them rotates", async ({ open, url }) => {
  const [one, two] = [await open("one"), await open("two")];
  const before = await tokenOf(one);
  assert.equal(await tokenOf(two), before);
  let ended = 0;
  two.identity.onEnded(() => ended++);

  const token = await one.operatorToken.rotate(BY_OPERATOR);
  assert.deepEqual([await opens(two, before), await opens(two, token)], [false, true]);
  assert.equal(ended, 1);
  assert.deepEqual([await tokenOf(one), await tokenOf(two)], [token, token]);
  const { mode } = await Deno.stat(join(two.folder, "api_token"));
  assert.equal((mode ?? 0) & 0o777, 0o600);
  assert.ok(!(await textsOf(url)).includes(token));

  const [first, second] = await Promise.allSettled([
    one.operatorToken.rotate(BY_OPERATOR),
    two.operatorToken.rotate(BY_OPERATOR),
  ]);
  const given = [first, second].flatMap((settled) =>
    settled.status === "fulfilled" ? [settled.value] : []
  );
  const last = await tokenOf(one);
  assert.equal(await tokenOf(two), last);
  assert.ok(given.includes(last), "the token in force was given to nobody");
  assert.deepEqual([await opens(one, last), await opens(two, last)], [true, true]);
});

testNodes("a node that was away takes the token of the others", async ({ open }) => {
  const one = await open("one");
  const two = await open("two");
  await two.close();
  const token = await one.operatorToken.rotate(BY_OPERATOR);
  const again = await open("two");
  assert.equal(await tokenOf(again), token);
  assert.ok(await opens(again, token));
});

testNodes("all nodes pin the same API token, or none", async ({ open }) => {
  const one = await open("one", { pinnedToken: PINNED });
  await assert.rejects(one.operatorToken.rotate(BY_OPERATOR), Conflict);
  await refused(open("two"), SecretFileError, /is set for the other nodes/);
  const other = open("two", { pinnedToken: `${PINNED}-2` });
  await refused(other, SecretFileError, /is another one for the other nodes/);
  const two = await open("two", { pinnedToken: PINNED });
  assert.equal(await tokenOf(two), PINNED);
  await two.close();
  await one.close();

  const alone = await open("one", { pinnedToken: `${PINNED}-2` });
  assert.equal(await tokenOf(alone), `${PINNED}-2`);
});
