import assert from "node:assert/strict";
import type { TestClient } from "./support/client.ts";
import { startServer, TestAccounts } from "./support/server.ts";

const SECOND = "batch draft/metadata-2";
const THIRD = "batch draft/metadata-3";

Deno.test("both drafts are offered with their limits", async () => {
  await using server = startServer();
  const client = await server.dial();
  const offered = await client.offered();
  const limits = "before-connect,max-keys=20,max-subs=50,max-value-bytes=300";
  for (const draft of ["2", "3"]) {
    assert.ok(offered.includes(`draft/metadata-${draft}=${limits}`));
  }
});

Deno.test("a user sets, reads, lists, unsets and clears its own metadata", async () => {
  await using server = startServer();
  const ann = await server.client("ann", SECOND);
  ann.send("METADATA * SET color :#ff0000", "METADATA ann SET status :", "METADATA Ann LIST");
  assert.deepEqual(await withoutBatches(ann), [
    "761 ann ann color * #ff0000",
    "761 ann ann status *",
    "BATCH metadata ann",
    "761 ann ann color * #ff0000",
    "761 ann ann status *",
  ]);
  ann.send("METADATA * GET color avatar NO", "METADATA * SET status", "METADATA * SET status");
  assert.deepEqual(await withoutBatches(ann), [
    "BATCH metadata ann",
    "761 ann ann color * #ff0000",
    "766 ann ann avatar The key is not set",
    "FAIL METADATA KEY_INVALID NO A key has 1 to 32 characters of a-z, 0-9 and _./-",
    "766 ann ann status The key is not set",
    "FAIL METADATA KEY_NOT_SET ann status The key is not set",
  ]);
  ann.send("METADATA * CLEAR", "METADATA * LIST");
  assert.deepEqual(await withoutBatches(ann), [
    "BATCH metadata ann",
    "766 ann ann color The key is not set",
    "BATCH metadata ann",
  ]);
});

Deno.test("a labelled answer is its batch, and in a longer answer the batch is within it", async () => {
  await using server = startServer();
  const ann = await server.client("ann", `${SECOND} labeled-response`);
  ann.send("@label=x METADATA * GET color");
  const [start, answer] = await ann.syncMessages();
  assert.equal(start?.tags.get("label"), "x");
  assert.equal(answer?.tags.get("batch"), start?.params[0]?.slice(1));

  ann.send("METADATA * SET color :red", "METADATA * SUB color", "JOIN #c");
  const host = await server.client("host");
  host.send("METADATA * SET color :red", "JOIN #d");
  await host.sync();
  await ann.sync();
  ann.send("@label=y JOIN #d");
  const messages = await ann.syncMessages();
  const batches = messages.filter(({ command }) => command === "BATCH");
  const [outer, inner] = batches.map(({ params }) => params[0]?.slice(1));
  assert.deepEqual(batches.map(({ params, tags }) => [params[0]?.[0], tags.get("batch")]), [
    ["+", undefined],
    ["+", outer],
    ["-", outer],
    ["-", undefined],
  ]);
  assert.equal(messages.find(({ command }) => command === "METADATA")?.tags.get("batch"), inner);
});

Deno.test("members of shared channels get the keys that they subscribed to, in the form of their draft", async () => {
  await using server = startServer();
  const ann = await server.client("ann");
  const second = await server.client("second", SECOND);
  const third = await server.client("third", THIRD);
  const outside = await server.client("outside", SECOND);
  for (const client of [second, third, outside]) client.send("METADATA * SUB color");
  for (const client of [ann, second, third]) await join(client);
  for (const client of [ann, second, third, outside]) await client.sync();

  ann.send("METADATA * SET color :red", "METADATA * SET avatar :x", "METADATA * SET color");
  await ann.sync();
  assert.deepEqual(await second.sync(), ["METADATA ann color * red", "METADATA ann color *"]);
  assert.deepEqual(await third.sync(), [
    "761 third ann color * red",
    "766 third ann color The key is not set",
  ]);
  assert.deepEqual(await outside.sync(), []);
});

Deno.test("a client that begins to see a user gets the metadata that is already set", async () => {
  await using server = startServer();
  const ann = await server.client("ann", SECOND);
  ann.send("METADATA * SUB color", "METADATA * SET color :blue");
  await join(ann);
  ann.send("METADATA #c SET color :grey");
  await ann.sync();
  const bob = await server.client("bob", SECOND);
  bob.send("METADATA * SET color :red", "METADATA * SUB color");
  await bob.sync();
  bob.send("JOIN #c");
  assert.deepEqual((await withoutBatches(bob)).slice(-3), [
    "BATCH metadata #c",
    "METADATA #c color * grey",
    "METADATA ann color * blue",
  ]);
  assert.deepEqual(await ann.sync(), ["bob JOIN #c", "METADATA bob color * red"]);

  const cid = await server.client("cid", SECOND);
  cid.send("METADATA * SUB color", "MONITOR + ann");
  assert.deepEqual((await withoutBatches(cid)).slice(-2), [
    "BATCH metadata ann",
    "METADATA ann color * blue",
  ]);
  cid.send("MONITOR + dan");
  await cid.sync();
  ann.send("NICK dan");
  await ann.sync();
  assert.deepEqual((await cid.sync()).slice(-1), ["METADATA dan color * blue"]);

  cid.send("JOIN #c", "METADATA * UNSUB color", "METADATA * SUB color");
  const shown = await withoutBatches(cid);
  assert.deepEqual(shown.slice(shown.indexOf("770 cid color")), [
    "770 cid color",
    "BATCH metadata #c",
    "METADATA #c color * grey",
    "METADATA dan color * blue",
    "METADATA bob color * red",
    "BATCH metadata dan",
    "METADATA dan color * blue",
  ]);
});

Deno.test("a channel's operators set its metadata, and users that may join read it", async () => {
  await using server = startServer();
  const host = await server.client("host", SECOND);
  await join(host);
  const guest = await server.client("guest", SECOND);
  const outside = await server.client("outside", SECOND);
  await join(guest);
  await host.sync();
  host.send("METADATA #C SET url :https://example.org");
  guest.send("METADATA #c SET url :mine", "METADATA #c CLEAR", "METADATA host SET url :mine");
  assert.deepEqual(await host.sync(), ["761 host #c url * https://example.org"]);
  assert.deepEqual(await guest.sync(), [
    "FAIL METADATA KEY_NO_PERMISSION #c url You may not do this",
    "FAIL METADATA KEY_NO_PERMISSION #c * You may not do this",
    "FAIL METADATA KEY_NO_PERMISSION host url You may not do this",
  ]);
  outside.send("METADATA #c GET url");
  const answer = await withoutBatches(outside);
  assert.equal(answer.at(-1), "761 outside #c url * https://example.org");
  host.send("MODE #c +i");
  await host.sync();
  outside.send("METADATA #c GET url", "METADATA #c LIST", "METADATA #c SYNC");
  const refusal = "FAIL METADATA KEY_NO_PERMISSION #c * You may not do this";
  assert.deepEqual(await outside.sync(), [refusal, refusal, refusal]);
  host.send("MODE #c -i+s");
  await host.sync();
  outside.send("METADATA #c LIST", "METADATA nobody LIST");
  assert.deepEqual(await outside.sync(), [
    "FAIL METADATA INVALID_TARGET #c There is no such user or channel",
    "FAIL METADATA INVALID_TARGET nobody There is no such user or channel",
  ]);
});

Deno.test("an IRC operator can clear other users' metadata, and they are notified", async () => {
  await using server = startServer({ accounts: new TestAccounts({ admin: "secret" }) });
  const operator = await server.client("op", SECOND);
  const ann = await server.client("ann", SECOND);
  operator.send("OPER admin secret");
  ann.send("METADATA * SUB avatar", "METADATA * SET avatar :rude");
  await operator.sync();
  await ann.sync();
  operator.send("METADATA ann CLEAR");
  await operator.sync();
  assert.deepEqual(await ann.sync(), ["METADATA ann avatar *"]);
});

Deno.test("subscriptions are listed, ended and bounded", async () => {
  await using server = startServer();
  const ann = await server.client("ann", SECOND);
  const keys = Array.from({ length: 51 }, (_, index) => `key-${index}`);
  for (let index = 0; index < keys.length; index += 10) {
    ann.send(`METADATA * SUB ${keys.slice(index, index + 10).join(" ")}`);
  }
  const answers = await ann.sync();
  assert.equal(answers[0], `770 ann ${keys.slice(0, 10).join(" ")}`);
  assert.equal(
    answers.at(-1),
    "FAIL METADATA TOO_MANY_SUBS key-50 You can subscribe to at most 50 keys",
  );
  for (let index = 2; index < 50; index += 10) {
    ann.send(`METADATA * UNSUB ${keys.slice(index, index + 10).join(" ")}`);
  }
  await ann.sync();
  ann.send("METADATA * SUBS");
  assert.deepEqual(await withoutBatches(ann), ["BATCH metadata-subs", "772 ann key-0 key-1"]);
});

Deno.test("keys, values and changes are bounded", async () => {
  let now = Date.parse("2026-11-20T12:00:00Z");
  await using server = startServer({ clock: () => now, limits: { strangerRate: null } });
  const ann = await server.client("ann", SECOND);
  const third = await server.client("third", THIRD);
  for (let index = 0; index < 20; index++) ann.send(`METADATA * SET key-${index} :v`);
  ann.send("METADATA * SET color :red");
  assert.equal(
    (await ann.sync()).at(-1),
    "FAIL METADATA RATE_LIMITED ann color 2 Too many changes, try again in 2 seconds",
  );
  now += 4000;
  ann.send("METADATA * SET color :red", `METADATA * SET key-0 :${"é".repeat(151)}`);
  assert.deepEqual(await ann.sync(), [
    "FAIL METADATA LIMIT_REACHED ann There are at most 20 keys",
    "FAIL METADATA VALUE_INVALID A value has at most 300 bytes",
  ]);
  third.send(`METADATA * SET url :${"x".repeat(301)}`, "METADATA * SET U :x", "METADATA * DO");
  third.send("METADATA * SET url", "METADATA * GET");
  assert.deepEqual(await third.sync(), [
    "FAIL METADATA INVALID_VALUE url A value has at most 300 bytes",
    "FAIL METADATA INVALID_KEY U A key has 1 to 32 characters of a-z, 0-9 and _./-",
    "FAIL METADATA INVALID_PARAMS DO There is no such subcommand",
    "766 third third url The key is not set",
    "461 third METADATA Not enough parameters",
  ]);
});

Deno.test("metadata that is set before the connection is complete appears in the greeting", async () => {
  await using server = startServer();
  const ann = await server.dial();
  ann.send(`CAP REQ :${SECOND}`, "METADATA * SET color :red", "METADATA ann SET color :red");
  ann.send("NICK ann", "USER ann 0 * :Ann", "CAP END");
  const greeting = (await ann.until("422")).map(({ command, params }) => [command, ...params]);
  assert.deepEqual(greeting.slice(1, 3), [
    ["761", "*", "*", "color", "*", "red"],
    ["FAIL", "METADATA", "INVALID_TARGET", "ann", "There is no such user or channel"],
  ]);
  const end = greeting.slice(-4).map(([command, , ...params]) => [command, ...params]);
  assert.deepEqual(end, [
    ["BATCH", "metadata", "ann"],
    ["METADATA", "color", "*", "red"],
    ["BATCH"],
    ["422", "There is no message of the day"],
  ]);
  const bob = await server.client("bob", SECOND);
  bob.send("WHOIS ann");
  assert.ok((await bob.sync()).includes("760 bob ann color * red"));
});

Deno.test("SYNC sends the subscribed keys; large channels are synchronised only on request", async () => {
  await using server = startServer({ limits: { strangerRate: null } });
  const members = await Promise.all(
    Array.from({ length: 11 }, (_, index) => server.client(`member${index}`)),
  );
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
  for (const member of members) {
    member.send(...keys.map((key) => `METADATA * SET ${key} :v`));
    await join(member);
  }
  const reader = await server.client("reader", SECOND);
  for (const half of [keys.slice(0, 10), keys.slice(10)]) {
    reader.send(`METADATA * SUB ${half.join(" ")}`);
  }
  await reader.sync();
  reader.send("JOIN #c");
  assert.equal((await reader.sync()).at(-1), "774 reader #c 1");
  reader.send("METADATA #c SYNC");
  const values = (await reader.sync()).filter((line) => line.startsWith("METADATA"));
  assert.equal(values.length, members.length * keys.length);
});

/** What came, with the beginnings of batches without their reference and without their ends. */
async function withoutBatches(client: TestClient): Promise<string[]> {
  const lines = await client.sync();
  return lines.filter((line) => !line.startsWith("BATCH -"))
    .map((line) => line.replace(/^BATCH \+\S+/, "BATCH"));
}

async function join(client: TestClient): Promise<void> {
  client.send("JOIN #c");
  await client.sync();
}
