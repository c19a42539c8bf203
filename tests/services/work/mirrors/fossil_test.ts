import assert from "node:assert/strict";
import { DEFAULT_TICKET_SCHEMA } from "../../../../services/engines/fossil/content/schema.ts";
import { randomBytes } from "node:crypto";
import { difference, dumpTables } from "../../engines/fossil/support/tables.ts";
import { newerFossil, peer } from "../../../support/peers.ts";
import { type TestApi, withApi } from "../../../support/scenarios.ts";
import { FossilUpstream } from "./fossil_server.ts";

const OPEN = { config: { webhooks: { allow_private: true } } };
const PATH = "/v1/projects/demo/mirror";
const REPOSITORY = "/projects/demo/fossil/api";

interface View {
  readonly fossil: { readonly username: string | null; readonly has_password: boolean };
  readonly last_error: string | null;
  readonly failures: number;
}

/** Runs a test with an empty project and an upstream repository. */
async function withUpstream(
  run: (api: TestApi, upstream: FossilUpstream) => Promise<void>,
  program = "fossil",
): Promise<void> {
  await using upstream = await FossilUpstream.start(program);
  await withApi(async (api) => {
    const { clock } = api.services;
    clock.advance(Math.max(0, Date.now() - clock.now()));
    await api.answer("POST /v1/projects", { slug: "demo", name: "Demo" });
    await run(api, upstream);
  }, OPEN);
}

async function ended(api: TestApi): Promise<View> {
  await api.services.hosting.mirrors.idle();
  return await api.answer(`GET ${PATH}`) as View;
}

/** Sets the mirror, and waits for its run. */
async function pull(
  api: TestApi,
  { url }: FossilUpstream,
  login: { readonly username?: string; readonly password?: string } = {},
): Promise<View> {
  await api.answer(`PUT ${PATH}`, { fossil: { url, ...login } });
  return await ended(api);
}

async function again(api: TestApi): Promise<View> {
  await api.answer(`POST ${PATH}/run`);
  return await ended(api);
}

/** The events of a project, oldest first: their types, and what tells them apart. */
async function eventsOf(api: TestApi): Promise<string[]> {
  const { events } = await api.services.eventLog.read({ types: ["project.*"], limit: 1000 });
  return events.map(({ type, actor, data }) =>
    `${type} ${actor} ${data["comment"] ?? data["title"] ?? data["name"] ?? ""}`.trim()
  ).sort();
}

async function assertSound(api: TestApi, { client }: FossilUpstream): Promise<void> {
  const path = `${api.services.folder}/projects/demo.fossil`;
  const copy = client.path(`copy-${crypto.randomUUID()}.fossil`);
  await client.fossil(["sql", "-R", path, `VACUUM INTO '${copy}'`]);
  assert.match(await client.fossil(["test-integrity", "--parse", "-R", copy]), / 0 errors/);
  const before = dumpTables(copy);
  await client.fossil(["rebuild", copy]);
  assert.deepEqual(difference(before, dumpTables(copy)), []);
}

for (const program of ["fossil", newerFossil()]) {
  const name = program === "fossil" ? "fossil" : "newer fossil";
  Deno.test({
    name: `a project copies upstream, then pulls what is new, with events: ${name}`,
    ...peer(name),
    fn: () =>
      withUpstream(async (api, upstream) => {
        assert.equal((await pull(api, upstream)).last_error, null);
        const codeOf = `SELECT value FROM config WHERE name='project-code'`;
        const path = `${api.services.folder}/projects/demo.fossil`;
        assert.equal(
          await upstream.client.fossil(["sql", "-R", path, codeOf]),
          await upstream.fossil("sql", codeOf),
        );
        const timeline = await api.answer(`GET ${REPOSITORY}/timeline`) as {
          entries: { comment: string }[];
        };
        assert.match(JSON.stringify(timeline), /Change one\.txt/);
        await assertSound(api, upstream);
        const copied = await eventsOf(api);

        await upstream.commit("two.txt", "two\n");
        await upstream.commit("three.txt", "three\n", "--branch", "side");
        await upstream.writePage("Start", "Changed upstream\n");
        await upstream.addTicket("Second");
        assert.equal((await again(api)).last_error, null);
        const now = await eventsOf(api);
        const added = now.filter((line) => !copied.includes(line));
        assert.deepEqual(added, [
          "project.checkin fossil:ursula Change three.txt",
          "project.checkin fossil:ursula Change two.txt",
          "project.ticket fossil:ursula Second",
          "project.wiki fossil:ursula Start",
        ]);
        await assertSound(api, upstream);
        assert.equal((await again(api)).last_error, null);
        assert.deepEqual(await eventsOf(api), now);
      }, program),
  });
}

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, fn, ...peer("fossil") });

for (const program of ["fossil", newerFossil()]) {
  const name = program === "fossil" ? "fossil" : "newer fossil";
  Deno.test({
    name: `what upstream sends as deltas of one another is got in another way: ${name}`,
    ...peer(name),
    fn: () =>
      withUpstream(async (api, upstream) => {
        assert.equal((await pull(api, upstream)).last_error, null);
        const lines = Array.from({ length: 200 }, (_, line) => `line ${line}\n`);
        const versions = [lines.join(""), lines.toReversed().slice(0, 120).join("") + lines[7]];
        for (let i = 0; i < 5; i++) await upstream.commit("back.txt", versions[i % 2]!);
        // Each version first stands, by date, in a check-in that reverts the other.
        await upstream.fossil("amend", "tip", "--date", "2001-01-01T00:00:00");
        await upstream.commit("more.txt", versions.join(""));
        assert.equal((await again(api)).last_error, null);
        await assertSound(api, upstream);

        const text = await (await api.send({ request: `GET ${REPOSITORY}/file?path=back.txt` }))
          .text();
        assert.equal(text, versions[0]);
      }, program),
  });
}

test("a mirror logs in with a password, and says clearly when that is wrong", async () => {
  await withUpstream(async (api, upstream) => {
    await upstream.require("bot", "right-one");
    const refused = await pull(api, upstream);
    assert.match(refused.last_error ?? "", /^Upstream refuses: not authorized to clone/);
    const wrong = await pull(api, upstream, { username: "bot", password: "wr0ng-one" });
    assert.match(wrong.last_error ?? "", /^Upstream refuses: /);
    assert.doesNotMatch(wrong.last_error ?? "", /wr0ng-one/);
    const right = await pull(api, upstream, { username: "bot", password: "right-one" });
    assert.equal(right.last_error, null);
    assert.deepEqual([right.fossil.username, right.fossil.has_password], ["bot", true]);
    await upstream.commit("two.txt", "two\n");
    assert.equal((await again(api)).last_error, null);
    assert.match((await eventsOf(api)).join("\n"), /fossil:ursula Change two\.txt/);
  });
});

test("a project with check-ins of its own is not mixed with another upstream", async () => {
  await withUpstream(async (api, upstream) => {
    await api.answer(`POST ${REPOSITORY}/workspaces/create`, { name: "work" });
    await api.answer(`POST ${REPOSITORY}/workspaces/work/commit`, {
      message: "Own work",
      changes: [{ path: "own.txt", content: "own\n" }],
    });
    const before = await eventsOf(api);
    const { last_error: reason } = await pull(api, upstream);
    assert.equal(
      reason,
      "Upstream is another project, and this one has check-ins: mirror upstream in a new project",
    );
    const after = await eventsOf(api);
    assert.deepEqual(after.filter((line) => !line.includes("mirror_changed")), before);
  });
});

test("a pull goes on after a lost connection, and keeps local check-ins", async () => {
  await withUpstream(async (api, upstream) => {
    for (let at = 0; at < 7; at++) {
      await upstream.commit(`big-${at}.bin`, crypto.getRandomValues(new Uint8Array(60_000)));
    }
    // Every attempt of the first run loses its connection: the second run clones.
    upstream.cuts.push(50_000, 50_000, 50_000);
    const lost = await pull(api, upstream);
    assert.match(lost.last_error ?? "", /closed in the middle of the response$/);
    assert.equal((await again(api)).last_error, null);
    await api.answer(`POST ${REPOSITORY}/workspaces/create`, { name: "work" });
    await api.answer(`POST ${REPOSITORY}/workspaces/work/commit`, {
      message: "Own work",
      changes: [{ path: "own.txt", content: "own\n" }],
    });
    await upstream.commit("more.txt", "more\n");
    // One lost answer costs nothing but another attempt.
    upstream.cuts.push(30);
    assert.equal((await again(api)).last_error, null);
    assert.match((await eventsOf(api)).join("\n"), /fossil:ursula Change more\.txt/);
    await assertSound(api, upstream);
  });
});

test("a pull to the branch of an active workspace stores nothing until that has ended", async () => {
  await withUpstream(async (api, upstream) => {
    assert.equal((await pull(api, upstream)).last_error, null);
    await api.answer(`POST ${REPOSITORY}/workspaces/create`, { name: "taken" });
    const before = await eventsOf(api);
    await upstream.commit("two.txt", "two\n", "--branch", "workspace/taken");
    const { last_error: reason } = await again(api);
    assert.match(reason ?? "", /"workspace\/taken" is refused: it belongs to an active workspace/);
    assert.deepEqual(await eventsOf(api), before);
    await api.answer(`DELETE ${REPOSITORY}/workspaces/taken/abandon`);
    assert.equal((await again(api)).last_error, null);
    assert.match((await eventsOf(api)).join("\n"), /fossil:ursula Change two\.txt/);
    await assertSound(api, upstream);
  });
});

for (const program of ["fossil", newerFossil()]) {
  const name = program === "fossil" ? "fossil" : "newer fossil";
  Deno.test({
    name: `an upstream with branches of workspaces and fields of tickets is followed: ${name}`,
    ...peer(name),
    fn: () =>
      withUpstream(async (api, upstream) => {
        await upstream.commit("two.txt", "two\n", "--branch", "workspace/theirs");
        const select = "SELECT value FROM config WHERE name='ticket-table'";
        const known = await upstream.fossil("sql", select);
        const table = (known === "" ? DEFAULT_TICKET_SCHEMA.trim() : unquoted(known))
          .replace("title TEXT", "title TEXT,\n  impact TEXT");
        await upstream.fossil(
          "sql",
          `REPLACE INTO config(name,value,mtime) VALUES('ticket-table','${table}',now())`,
        );
        await upstream.fossil("rebuild");
        await upstream.fossil("ticket", "add", "title", "Wide", "impact", "all");
        assert.equal((await pull(api, upstream)).last_error, null);

        await upstream.commit("three.txt", "three\n");
        await upstream.fossil("ticket", "add", "title", "Wider", "impact", "most");
        await upstream.commit("four.txt", "four\n", "--branch", "workspace/new");
        assert.equal((await again(api)).last_error, null);
        const events = (await eventsOf(api)).join("\n");
        assert.match(events, /Change four\.txt/);
        assert.match(events, /Wider/);
        await assertSound(api, upstream);
      }, program),
  });
}

/** A text as `fossil sql` prints it. */
function unquoted(text: string): string {
  return text.trim().replace(/^'|'$/g, "").replaceAll("''", "'");
}

test("a first pull of several answers is cut off, and the next one goes on", async () => {
  await withUpstream(async (api, upstream) => {
    for (let at = 0; at < 3; at++) {
      await upstream.commit(`big-${at}.bin`, new Uint8Array(randomBytes(3_000_000)));
    }
    const before = upstream.connections;
    // The first answer arrives whole; every attempt to get the second one fails.
    upstream.cuts.push(Infinity, 1000, 1000, 1000);
    const lost = await pull(api, upstream);
    assert.match(lost.last_error ?? "", /closed in the middle of the response$/);
    assert.equal(upstream.connections - before, 4);
    assert.equal((await again(api)).last_error, null);
    // The second answer of the clone, and the pull: the first answer is not asked for again.
    assert.equal(upstream.connections - before, 6);
    assert.match((await eventsOf(api)).join("\n"), /project\.imported/);
    await assertSound(api, upstream);
  });
});
