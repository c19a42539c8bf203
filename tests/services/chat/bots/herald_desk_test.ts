import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { HeraldDesk } from "../../../../services/chat/bots/mod.ts";
import { type Database, openSqlite } from "../../../../services/engines/database/mod.ts";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { OPERATOR_CALLER } from "../bridge/support.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { withFolder } from "../../../support/temporary.ts";

/** Desks of several nodes with one database. */
interface Desks {
  readonly database: Database;
  /** @param leads whether the node of the desk leads */
  open(leads?: () => boolean): HeraldDesk;
}

function withDesks(run: (desks: Desks) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const database = openSqlite(join(folder, "muster.db"));
    const settings = { enabled: true, channel: "#alerts", routes: {}, rate_limit: 1, burst: 5 };
    const guardOf = (leads: boolean) => ({
      sql: "UPDATE instance SET id = id WHERE ?",
      parameters: [leads ? 1 : 0],
      mustChange: true,
    });
    try {
      await run({
        database,
        open: (leads = () => true) =>
          new HeraldDesk({
            database,
            settings: () => settings,
            key: { mac: (purpose, text) => Promise.resolve(purpose + text) },
            scheduler: new TestScheduler(),
            guard: () => [guardOf(leads())],
          }),
      });
    } finally {
      await database.close();
    }
  });
}

/** The texts that wait, in order; they are announced. */
async function announceAll(desk: HeraldDesk): Promise<string[]> {
  const texts: string[] = [];
  for (let next = await desk.next(); next !== null; next = await desk.next()) {
    texts.push(next.text);
    await desk.remove(next);
  }
  return texts;
}

/** The headers of a webhook with the signature of GitHub. */
function signed(secret: string, body: string) {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  return { "x-hub-signature-256": signature, "x-github-event": "star" };
}

Deno.test("what is stored for herald outlives a node that has not read it", () =>
  withDesks(async ({ open }) => {
    const [first, second] = [open(), open()];
    await first.load();
    await first.addSource({ name: "code", kind: "github" }, OPERATOR_CALLER);
    await first.announce({ type: "deploy", text: "one" });
    first.leave();

    const source = { name: "other", kind: "github" } as const;
    await assert.rejects(() => second.addSource(source, OPERATOR_CALLER), Unavailable);
    await assert.rejects(() => second.announce({ type: "deploy", text: "two" }), Unavailable);
    await assert.rejects(() => first.addSource(source, OPERATOR_CALLER), Unavailable);
    await second.load();
    await second.announce({ type: "deploy", text: "two" });
    assert.deepEqual(second.sources().map(({ name }) => name), ["code"]);
    assert.deepEqual(await announceAll(second), ["one", "two"]);
  }));

Deno.test("a notice waits until it is announced", () =>
  withDesks(async ({ open }) => {
    const [first, second] = [open(), open()];
    await first.load();
    await first.announce({ type: "deploy", text: "one" });
    assert.equal((await first.next())?.text, "one");
    // The first node dies while it announces it.
    await second.load();
    assert.deepEqual(await announceAll(second), ["one"]);
    await first.load();
    assert.equal(await first.next(), null);
  }));

Deno.test("what was announced does not come again while that cannot be stored", () =>
  withDesks(async ({ open }) => {
    let leads = true;
    const desk = open(() => leads);
    await desk.load();
    for (const text of ["one", "two"]) await desk.announce({ type: "deploy", text });
    const first = await desk.next() ?? assert.fail();
    leads = false;
    await assert.rejects(desk.remove(first), Unavailable);
    await assert.rejects(desk.next(), Unavailable);
    leads = true;
    await desk.load();
    assert.deepEqual(await announceAll(desk), ["two"]);
  }));

Deno.test("a node that no longer leads accepts nothing", () =>
  withDesks(async ({ open }) => {
    let leads = true;
    const [first, second] = [open(() => leads), open()];
    await first.load();
    const source = { name: "code", kind: "github" } as const;
    const secret = await first.addSource(source, OPERATOR_CALLER);
    await second.load();
    const body = JSON.stringify({ action: "created" });
    const receive = (desk: HeraldDesk) =>
      desk.receive("code", signed(secret, body), new TextEncoder().encode(body));
    leads = false;
    await assert.rejects(first.announce({ type: "deploy", text: "refused" }), Unavailable);
    await assert.rejects(first.removeSource("code", OPERATOR_CALLER), Unavailable);
    // The second of two at once is not accepted before the first is stored.
    const twice = [receive(first), receive(first)];
    await Promise.all(twice.map((received) => assert.rejects(received, Unavailable)));
    assert.equal(first.waiting, 0);
    assert.equal((await receive(second))?.waiting, 1);
    assert.equal(await receive(second), null);
  }));

Deno.test("herald announces what an earlier version has stored", () =>
  withDesks(async ({ database, open }) => {
    const value = JSON.stringify(
      ["one", "two"].map((text) => ({ type: "deploy", text, channel: "#alerts" })),
    );
    await database.commit({
      statements: [{
        sql: "INSERT INTO bot_state (bot, key, value) VALUES ('herald', 'waiting', ?)",
        parameters: [value],
        mustChange: true,
      }],
    });
    const desk = open();
    await desk.load();
    assert.deepEqual(await announceAll(desk), ["one", "two"]);
  }));

Deno.test("a webhook may have many entries, but no object of very many fields", () =>
  withDesks(async ({ open }) => {
    const desk = open();
    await desk.load();
    const secret = await desk.addSource({ name: "hub", kind: "github" }, OPERATOR_CALLER);
    const receive = (payload: unknown) => {
      const body = JSON.stringify(payload);
      return desk.receive("hub", signed(secret, body), new TextEncoder().encode(body));
    };
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, index]));
    const repository = { full_name: "acme/site", ...fields(900) };
    const commits = Array.from({ length: 2048 }, (_, index) => ({
      message: `${(index + 1) * 65_536}`,
      modified: Array(200).fill(`src/module/file-${index}.ts`),
      author: { name: "ann", ...fields(20) },
    }));
    assert.notEqual(await receive({ ref: "refs/heads/main", repository, commits }), null);
    await assert.rejects(receive({ repository: fields(1001) }), /too many entries or fields/);
  }));
