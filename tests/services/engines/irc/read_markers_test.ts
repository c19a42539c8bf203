import assert from "node:assert/strict";
import type { ReadMarkerStore } from "../../../../services/engines/irc/mod.ts";
import type { TestClient } from "./support/client.ts";
import { startServer, TestAccounts, type TestServer } from "./support/server.ts";

const MARKER = "draft/read-marker";
const JANUARY = "timestamp=2033-01-01T00:00:00.000Z";
const MARCH = "timestamp=2033-03-01T00:00:00.000Z";
const MAY = "timestamp=2033-05-18T03:33:20.000Z";
const NOW = Date.parse("2033-05-18T03:33:20.000Z");

/** Another session of an account, under a nick of its own. */
async function session(
  server: TestServer,
  account: string,
  nick: string,
  capabilities = MARKER,
): Promise<TestClient> {
  const client = await server.dial();
  client.send("CAP LS 302", `NICK ${nick}`, `USER ${nick} 0 * :x`);
  client.send(`CAP REQ :sasl ${capabilities}`);
  client.logIn(account, "secret");
  client.send("CAP END");
  await client.until("422");
  return client;
}

Deno.test("a marker moves forward, never back and never beyond the present", async () => {
  await using server = startServer({ clock: () => NOW });
  const guest = await server.client("guest", MARKER);
  await server.client("Bob");
  guest.send("JOIN #c", `MARKREAD #C ${MARCH}`, `MARKREAD #c ${JANUARY}`, "MARKREAD #c");
  guest.send("MARKREAD #c timestamp=2099-01-01T00:00:00.000Z", "MARKREAD #none");
  guest.send(`MARKREAD bob ${JANUARY}`, "MARKREAD BOB", "PART #c", "JOIN #c");
  const lines = await guest.sync();
  assert.deepEqual(lines.filter((line) => line.startsWith("MARKREAD")), [
    "MARKREAD #c *",
    `MARKREAD #c ${MARCH}`,
    `MARKREAD #c ${MARCH}`,
    `MARKREAD #c ${MARCH}`,
    `MARKREAD #c ${MAY}`,
    "MARKREAD #none *",
    `MARKREAD Bob ${JANUARY}`,
    `MARKREAD Bob ${JANUARY}`,
    `MARKREAD #c ${MAY}`,
  ]);
  const joined = lines.map((line) => line.split(" ")[0]);
  assert.ok(joined.indexOf("MARKREAD") < joined.indexOf("366"), "before the end of the names");
});

Deno.test("a malformed marker is refused, and the command needs the capability", async () => {
  await using server = startServer();
  const guest = await server.client("guest", MARKER);
  guest.send("MARKREAD", "MARKREAD two,names", "MARKREAD #c *", "MARKREAD #c timestamp=soon");
  guest.send("MARKREAD #c timestamp=2033-13-01T00:00:00.000Z", "MARKREAD #c 2033-01-01");
  const answers = (await guest.syncMessages()).map(({ command, params }) => {
    return [command, ...params.slice(1, -1)].join(" ");
  });
  assert.deepEqual(answers, [
    "FAIL NEED_MORE_PARAMS",
    "FAIL INVALID_PARAMS two,names",
    "FAIL INVALID_PARAMS #c *",
    "FAIL INVALID_PARAMS #c timestamp=soon",
    "FAIL INVALID_PARAMS #c timestamp=2033-13-01T00:00:00.000Z",
    "FAIL INVALID_PARAMS #c 2033-01-01",
  ]);
  const plain = await server.client("plain");
  plain.send("JOIN #c", `MARKREAD #c ${MARCH}`);
  const lines = await plain.sync();
  assert.equal(lines.at(-1), "421 plain MARKREAD Unknown command");
  assert.ok(!lines.some((line) => line.startsWith("MARKREAD")));
});

Deno.test("all sessions of an account with the capability get its marker, and others nothing", async () => {
  const accounts = new TestAccounts({ ann: "secret", ben: "secret" });
  await using server = startServer({ accounts, clock: () => NOW });
  const desk = await session(server, "ann", "ann");
  const phone = await session(server, "ann", "ann-phone");
  const plain = await session(server, "ann", "ann-plain", "message-tags");
  const ben = await session(server, "ben", "ben");
  desk.send(`MARKREAD #c ${MARCH}`);
  assert.deepEqual(await desk.sync(), [`MARKREAD #c ${MARCH}`]);
  assert.deepEqual(await phone.sync(), [`MARKREAD #c ${MARCH}`]);
  assert.deepEqual([await plain.sync(), await ben.sync()], [[], []]);
  desk.send(`MARKREAD #c ${JANUARY}`);
  await desk.sync();
  assert.deepEqual(await phone.sync(), []);
  ben.send("MARKREAD #c");
  assert.deepEqual(await ben.sync(), ["MARKREAD #c *"]);
  // It outlives the connections, not the account.
  for (const client of [desk, phone]) {
    client.send("QUIT");
    await client.untilClosed();
  }
  const back = await session(server, "ann", "ann");
  back.send("MARKREAD #c");
  assert.deepEqual(await back.sync(), [`MARKREAD #c ${MARCH}`]);
  server.server.forgetAccount("Ann");
  back.send("MARKREAD #c");
  assert.deepEqual(await back.sync(), ["MARKREAD #c *"]);
});

Deno.test("a marker that cannot be stored is an error", async () => {
  const readMarkers: ReadMarkerStore = {
    read: () => null,
    advance: () => Promise.reject(new Error("disk full")),
    rename() {},
    forget() {},
  };
  const accounts = new TestAccounts({ ann: "secret" });
  await using server = startServer({ accounts, readMarkers });
  const desk = await session(server, "ann", "ann");
  const phone = await session(server, "ann", "ann-phone");
  desk.send("MARKREAD #c timestamp=2020-01-01T00:00:00.000Z");
  assert.deepEqual(await desk.sync(), [
    "FAIL MARKREAD INTERNAL_ERROR #c The marker could not be stored",
  ]);
  assert.deepEqual(await phone.sync(), []);
});
