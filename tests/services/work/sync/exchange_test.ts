/** Single messages: what each card does. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { type Card, encodeUtf8, sha3 } from "../../../../services/engines/fossil/mod.ts";
import { commitFiles, type TestProject, withProject } from "../../../support/projects.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { exchange } from "../../../support/sync_messages.ts";

const ZERO = "0".repeat(40);

interface Peer {
  /** Sends cards as `caller`, after those that begin a sync. */
  sync(...cards: readonly Card[]): Promise<readonly Card[]>;
  /** Sends cards as the given user, alone. */
  send(bearer: string, user: string, cards: readonly Card[]): Promise<readonly Card[]>;
}

async function withPeer(run: (test: TestProject, peer: Peer) => Promise<void>): Promise<void> {
  await withProject(async (test) => {
    const send: Peer["send"] = async (bearer, user, cards) => {
      const login = { user, password: bearer.slice("Bearer ".length) };
      const url = `http://muster.test${test.base}`;
      return (await exchange((request) => test.api.handle(request), url, { cards, login })).cards;
    };
    const codes = (await send(test.caller, "caller", [{ kind: "clone", version: 3, sequence: 1 }]))
      .find((card) => card.kind === "push");
    const projectCode = codes?.kind === "push" ? codes.projectCode : "";
    await run(test, {
      send,
      sync: (...cards) =>
        send(test.caller, "caller", [
          { kind: "pragma", name: "client-version", values: ["22100", "20230226", "192424"] },
          { kind: "pull", serverCode: ZERO, projectCode },
          { kind: "push", serverCode: ZERO, projectCode },
          ...cards,
        ]),
    });
  });
}

function filesIn(cards: readonly Card[]): string[] {
  return cards.flatMap((card) => card.kind === "file" || card.kind === "cfile" ? [card.hash] : []);
}

Deno.test("a clone by each version of the protocol brings the same artifacts", async () => {
  await withPeer(async (test, { send }) => {
    await commitFiles(test, { "a.txt": "one\n".repeat(100), "b.txt": "two\n" });
    const clone = (card: Card) => send(test.caller, "caller", [card]);
    const [third, second] = [
      await clone({ kind: "clone", version: 3, sequence: 1 }),
      await clone({ kind: "clone", version: 2, sequence: 1 }),
    ];
    assert.deepEqual(filesIn(second).sort(), filesIn(third).sort());
    assert(third.some((card) => card.kind === "clone_seqno" && card.next === 0));
    const first = await clone({ kind: "clone", version: 1, sequence: 1 });
    const named = first.flatMap((card) => card.kind === "igot" ? [card.hash] : []);
    assert.deepEqual(named.sort(), filesIn(third).sort());
  });
});

/** Asserts that each delta has a base that comes before it, and returns the number of deltas. */
function orderedDeltas(cards: readonly Card[]): number {
  const known = new Set<string>();
  let deltas = 0;
  for (const card of cards) {
    if (card.kind !== "file" && card.kind !== "cfile") continue;
    if (card.source !== null) {
      assert(known.has(card.source), `${card.hash} is a delta of what the client may not have`);
      deltas++;
    }
    known.add(card.hash);
  }
  return deltas;
}

/** A text of 200 lines, and the same with another one. */
const VERSIONS = ["", "more\n"].map((end) =>
  `${Array.from({ length: 200 }, (_, line) => `line ${line}\n`).join("")}${end}`
);

Deno.test("an artifact is a delta of what the same answer has, and of nothing else", async () => {
  await withPeer(async (test, { send, sync }) => {
    const [one = "", two = ""] = VERSIONS;
    for (const text of [one, two, one, two]) await commitFiles(test, { "a.txt": text });
    // By date, each version now stands first in a check-in that reverts the other.
    const db = new DatabaseSync(test.api.services.hosting.repositories.files.pathOf(test.project));
    db.exec("UPDATE event SET mtime=-mtime WHERE type='ci'");
    db.close();
    const cards = await send(test.caller, "caller", [{ kind: "clone", version: 1, sequence: 1 }]);
    const named = cards.flatMap((card) => card.kind === "igot" ? [card.hash] : []);
    const gimme = (hash: string): Card => ({ kind: "gimme", hash });
    for (const hash of named) {
      assert.equal(orderedDeltas(await sync(gimme(hash))), 0);
      // What a client announces may itself wait for content there.
      const others = named.filter((other) => other !== hash)
        .map((other): Card => ({ kind: "igot", hash: other, isPrivate: false }));
      assert.equal(orderedDeltas(await sync(...others, gimme(hash))), 0);
    }
    for (const order of [named, named.toReversed()]) {
      assert(orderedDeltas(await sync(...order.map(gimme))) > 0);
    }
  });
});

Deno.test("a clone of several answers has no circle, if the repository is stored anew meanwhile", async () => {
  await withPeer(async (test, { send }) => {
    const [one = "", two = ""] = VERSIONS;
    await commitFiles(test, { "a.txt": one });
    await commitFiles(test, { "large.bin": new Uint8Array(randomBytes(5_200_000)) });
    await commitFiles(test, { "a.txt": two });
    const clone = (sequence: number) =>
      send(test.caller, "caller", [{ kind: "clone", version: 3, sequence }]);
    const sources = new Map<string, string | null>();
    for (let [sequence, answers] = [1, 0]; sequence !== 0; answers++) {
      const cards = await clone(sequence);
      for (const card of cards) if (card.kind === "cfile") sources.set(card.hash, card.source);
      const next = cards.find((card) => card.kind === "clone_seqno");
      sequence = next?.kind === "clone_seqno" ? next.next : 0;
      if (answers > 0) continue;
      assert.equal(sources.get(sha3(one)), sha3(two));
      // Two branches that revert the file make its new version a delta of the old one.
      for (const name of ["first", "second"]) {
        await test.answer("POST /api/workspaces/create", { body: { name } });
      }
      for (const name of ["first", "second"]) {
        const body = { message: "back", changes: [{ path: "a.txt", content: one }] };
        await test.answer(`POST /api/workspaces/${name}/commit`, { body });
      }
    }
    for (const hash of sources.keys()) {
      const seen = new Set<string>();
      for (let next: string | null = hash; next !== null; next = sources.get(next) ?? null) {
        assert(!seen.has(next), `${next} is a delta of itself`);
        seen.add(next);
      }
    }
  });
});

Deno.test("shunned artifacts are neither sent nor stored", async () => {
  await withPeer(async (test, { sync }) => {
    await commitFiles(test, { "a.txt": "to be shunned\n" });
    const [stored, pushed] = [encodeUtf8("to be shunned\n"), encodeUtf8("never stored\n")];
    const { files } = test.api.services.hosting.repositories;
    const shun = `INSERT INTO shun(uuid,mtime) VALUES('${sha3(stored)}',1),('${sha3(pushed)}',1)`;
    const db = new DatabaseSync(files.pathOf(test.project));
    db.exec(shun);
    const answer = await sync(
      { kind: "gimme", hash: sha3(stored) },
      { kind: "file", hash: sha3(pushed), source: null, content: pushed },
      { kind: "igot", hash: sha3(pushed), isPrivate: false },
    );
    assert.deepEqual(filesIn(answer), []);
    assert(!answer.some((card) => card.kind === "gimme" || card.kind === "error"));
    assert(!answer.some((card) => card.kind === "igot" && card.hash === sha3(stored)));
    assert.equal(db.prepare("SELECT 1 FROM blob WHERE uuid=?").get(sha3(pushed)), undefined);
    db.close();
  });
});

Deno.test("an artifact is asked for until it comes, and wrong content is refused", async () => {
  await withPeer(async (_test, { sync }) => {
    const content = encodeUtf8("some file\n");
    const hash = sha3(content);
    const asks = (cards: readonly Card[]) =>
      cards.some((card) => card.kind === "gimme" && card.hash === hash);
    assert(asks(await sync({ kind: "igot", hash, isPrivate: false })));
    const [wrong] = await sync({ kind: "file", hash, source: null, content: encodeUtf8("wrong") });
    assert.equal(wrong?.kind, "error");
    assert(asks(await sync({ kind: "igot", hash, isPrivate: false })));
    assert(!asks(await sync({ kind: "file", hash, source: null, content })));
    assert(!asks(await sync({ kind: "igot", hash, isPrivate: false })));
  });
});

Deno.test("a check-in that one client locks is locked for another, until it is unlocked", async () => {
  await withPeer(async (test, { sync, send }) => {
    const checkin = await commitFiles(test, { "a.txt": "one\n" });
    const [mine, others] = ["1".repeat(40), "2".repeat(40)];
    const lock = (client: string): Card => ({
      kind: "pragma",
      name: "ci-lock",
      values: [checkin, client],
    });
    const failure = (cards: readonly Card[]) =>
      cards.flatMap((card) =>
        card.kind === "pragma" && card.name === "ci-lock-fail" ? card.values[0] : []
      );
    assert.deepEqual(failure(await sync(lock(mine))), []);
    assert.deepEqual(failure(await sync(lock(mine))), []);
    assert.deepEqual(failure(await send(test.other, "other", [lock(others)])), ["caller"]);
    await sync({ kind: "pragma", name: "ci-unlock", values: [mine] });
    assert.deepEqual(failure(await send(test.other, "other", [lock(others)])), []);
  });
});

Deno.test("many artifacts are announced by clusters, and each once", async () => {
  await withPeer(async (test, { send }) => {
    const files = Array.from({ length: 150 }, (_, i) => [`${i}.txt`, `file ${i}\n`] as const);
    await commitFiles(test, Object.fromEntries(files));
    const [codes] =
      (await send(test.caller, "caller", [{ kind: "clone", version: 3, sequence: 1 }]))
        .filter((card) => card.kind === "push");
    const projectCode = codes?.kind === "push" ? codes.projectCode : "";
    const pull = () =>
      send(test.caller, "caller", [{ kind: "pull", serverCode: ZERO, projectCode }]);
    for (let i = 0; i < 2; i++) {
      const named = (await pull()).filter((card) => card.kind === "igot");
      assert.equal(named.length, 1);
    }
  });
});

Deno.test("settings are sent without users, scripts and looks, and none is taken", async () => {
  await withPeer(async (_test, { sync }) => {
    for (const name of ["/all", "/project", "/user", "/skin", "/xfer", "/email", "@user"]) {
      const texts = (await sync({ kind: "reqconfig", name })).flatMap((card) =>
        card.kind === "config" ? [`${card.name} ${new TextDecoder().decode(card.content)}`] : []
      );
      if (name === "/project") {
        assert(texts.some((text) => text.includes("'project-name' value 'Demo'")));
      }
      const secret = /^\/user|^\/concealed|^\/subscriber|-script'|'header'|'css'/;
      assert.deepEqual(texts.filter((text) => secret.test(text)), [], name);
    }
    const [error] = await sync({
      kind: "config",
      name: "/config",
      content: encodeUtf8("1 'a' value 'b'"),
    });
    assert.deepEqual(error, { kind: "error", text: "not authorized to push configuration" });
  });
});

Deno.test("a reader pulls, learns that it may not push, and pushes nothing", async () => {
  await withPeer(async (test, { send }) => {
    await test.api.services.hosting.projects.setMember("demo", "stranger-1", "read", BY_OPERATOR);
    const cards = await send(test.caller, "caller", [{ kind: "clone", version: 3, sequence: 1 }]);
    const code = cards.find((card) => card.kind === "push");
    const projectCode = code?.kind === "push" ? code.projectCode : "";
    const content = encodeUtf8("never stored\n");
    const file: Card = { kind: "file", hash: sha3(content), source: null, content };
    const both: readonly Card[] = [
      { kind: "pull", serverCode: ZERO, projectCode },
      { kind: "push", serverCode: ZERO, projectCode },
    ];
    const told = await send(test.outsider, "stranger-1", both);
    assert(
      told.some((card) =>
        card.kind === "message" && /^pull only - not authorized to push/.test(card.text)
      ),
    );
    const [error] = await send(test.outsider, "stranger-1", [...both, file]);
    assert.deepEqual(error, { kind: "error", text: "not authorized to write" });
    const [wrong] = await send(test.caller, "caller", [{
      kind: "pull",
      serverCode: ZERO,
      projectCode: ZERO,
    }]);
    assert.deepEqual(wrong, { kind: "error", text: "wrong project" });
  });
});
