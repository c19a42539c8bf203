/** A pusher who keeps to no rule, and the checks that nothing of it stays. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import {
  type Artifact,
  type Card,
  createDelta,
  formatArtifact,
  type Manifest,
  md5,
  sha3,
  type TagCard,
  unpackBlob,
} from "../../services/engines/fossil/mod.ts";
import { hashOf, starting, tag } from "../services/engines/fossil/support/pushing.ts";
import { commitFiles } from "./projects.ts";
import { type SyncTest, withSync } from "./sync.ts";
import { exchange, type SyncMessage, type SyncReply } from "./sync_messages.ts";
import { THOROUGH } from "./level.ts";

export { hashOf, starting, tag };

/** The tables of the app database that a push could reach. */
const TABLES = [
  "claims",
  "workspaces",
  "reviews",
  "releases",
  "release_assets",
  "repository_cursors",
  "protection_rules",
  "project_members",
  "projects",
] as const;

/** A message that must be refused, or be without effect. */
export interface Attempt extends Partial<SyncMessage> {
  readonly name: string;
  /** What the error says; null for a message that is passed over without one. */
  readonly refusal: RegExp | null;
  /** Adds no `push` card. */
  readonly isBare?: boolean;
  /** The code of the pusher's clone, if it has another one. */
  readonly serverCode?: string;
  /** Adds no login. */
  readonly isUnsigned?: boolean;
  /** Messages that come before, and are accepted. */
  readonly before?: readonly (readonly Card[])[];
  /** The hash of the part that is refused, where others are allowed and stay. */
  readonly refused?: string;
}

/** A project with a protected trunk, workspaces of two agents, and `caller` as the pusher. */
export class HostileScene {
  readonly test: SyncTest;
  readonly now: number;
  readonly projectCode: string;
  readonly trunk: string;
  readonly feature: string;
  readonly mine: string;
  readonly others: string;
  readonly lost: string;

  private constructor(test: SyncTest, tips: {
    readonly trunk: string;
    readonly feature: string;
    readonly mine: string;
    readonly others: string;
    readonly lost: string;
  }) {
    this.test = test;
    this.now = test.api.services.clock.now();
    [this.trunk, this.feature] = [tips.trunk, tips.feature];
    [this.mine, this.others, this.lost] = [tips.mine, tips.others, tips.lost];
    const [code = "{}"] = this.#rows("SELECT value FROM config WHERE name='project-code'");
    this.projectCode = JSON.parse(code).value;
  }

  /** Runs a test on a new project. */
  static async run(work: (scene: HostileScene) => Promise<void>): Promise<void> {
    await withSync("fossil", async (test) => {
      const { answer, caller, other } = test;
      const trunk = await commitFiles(test, { "README.md": "text\n".repeat(40) });
      const protection = [
        { pattern: "trunk", push: "admin" },
        { pattern: "release/*", push: "admin" },
      ];
      await answer("PUT /api/protection", { body: protection });
      const workspace = async (name: string, as: string, ticket?: string) => {
        const body = { name, ...ticket === undefined ? {} : { ticket } };
        await answer("POST /api/workspaces/create", { as, body });
        const changes = [{ path: `${name}.txt`, content: `${name}\n` }];
        const commit = { as, body: { message: name, changes } };
        return (await answer(`POST /api/workspaces/${name}/commit`, commit)).uuid;
      };
      const { uuid: ticket } = await answer("POST /api/tickets", { body: { title: "Work" } });
      await answer(`POST /api/tickets/${ticket}/claim`, { as: caller });
      const lost = await workspace("lost", caller, ticket);
      await answer(`POST /api/tickets/${ticket}/release`, { as: caller });
      await answer(`POST /api/tickets/${ticket}/claim`, { as: other });
      const [mine, others] = [await workspace("mine", caller), await workspace("others", other)];
      test.api.services.clock.advance(60_000);
      const scene = new HostileScene(test, { trunk, feature: "", mine, others, lost });
      const start = scene.checkin(trunk, { tags: starting("feature", "trunk") });
      await scene.honest(start);
      await work(new HostileScene(test, { trunk, feature: hashOf(start), mine, others, lost }));
    });
  }

  checkin(parent: string | null, more: Partial<Manifest> = {}): Manifest {
    return {
      kind: "manifest",
      baseline: null,
      comment: "pushed",
      date: this.now,
      files: [],
      mimetype: null,
      parents: parent === null ? [] : [parent],
      cherrypicks: [],
      checksum: "d41d8cd98f00b204e9800998ecf8427e",
      tags: [],
      user: "caller",
      ...more,
    };
  }

  control(...tags: readonly TagCard[]): Artifact {
    return { kind: "control", date: this.now, tags, user: "caller" };
  }

  send(attempt: Partial<Attempt>): Promise<SyncReply> {
    const { test, projectCode } = this;
    const { isBare = false, isUnsigned = false, cards = [], ...message } = attempt;
    const { serverCode = "a".repeat(40) } = attempt;
    const push: Card = { kind: "push", serverCode, projectCode };
    const password = test.caller.slice("Bearer ".length);
    return exchange((request) => fetch(request), `${test.origin}${test.base}`, {
      ...isUnsigned ? {} : { login: { user: "caller", password } },
      ...message,
      cards: [...isBare ? [] : [push], ...cards],
    });
  }

  /** A push that must succeed. */
  async honest(...artifacts: readonly (Artifact | Uint8Array)[]): Promise<void> {
    const { errors, status } = await this.send({ cards: artifacts.map(fileOf) });
    assert.deepEqual([errors, status], [[], 200]);
  }

  /** Sends a body as it is; returns the answer's status and text. */
  async sendBody(body: Uint8Array, contentType = "application/x-fossil"): Promise<string> {
    const { test: { origin, base, caller } } = this;
    const headers = { "content-type": contentType, authorization: caller };
    const state = await this.#state();
    const response = await fetch(`${origin}${base}`, {
      method: "POST",
      headers,
      body: body as Uint8Array<ArrayBuffer>,
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    assert.deepEqual(await this.#state(), state);
    const isPacked = response.headers.get("content-type") === "application/x-fossil";
    const text = new TextDecoder().decode(isPacked ? unpackBlob(bytes) : bytes);
    return `${response.status} ${text}`;
  }

  /** Makes an attempt: the server says why not, in one sentence, and keeps nothing. */
  async attempt(attempt: Attempt): Promise<void> {
    const { name, refusal, before = [], refused } = attempt;
    for (const cards of before) assert.deepEqual((await this.send({ cards })).errors, [], name);
    const state = await this.#state();
    const { status, errors } = await this.send(attempt);
    if (refusal === null) assert.deepEqual(errors, [], name);
    else {
      assert.equal(errors.length, 1, `${name}: ${errors.join("|") || status}`);
      assert.match(errors[0] ?? "", refusal, `${name}: ${errors[0]}`);
      assert.match(errors[0] ?? "", /^[^\n]{5,400}[^.\n]$/, name);
    }
    assert.equal(status, 200, name);
    if (refused !== undefined) return this.#assertLeftOut(refused, name);
    assert.deepEqual(await this.#state(), state, `${name}: something stayed`);
  }

  #assertLeftOut(hash: string, name: string): void {
    assert.deepEqual(this.#rows("SELECT rid FROM phantom"), [], name);
    assert.deepEqual(this.#rows(`SELECT rid FROM blob WHERE uuid='${hash}'`), [], name);
  }

  /** All rows of both databases that a push could change. */
  async #state(): Promise<Readonly<Record<string, unknown>>> {
    const { database, eventLog } = this.test.api.services;
    const state: Record<string, unknown> = {};
    for (const table of TABLES) {
      state[table] = await database.tables.selectFrom(table).selectAll().execute();
    }
    state["events"] = (await eventLog.read({ after: 0, limit: 1000 })).events.length;
    const tables = this.#rows("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name");
    for (const table of tables.map((row) => String(JSON.parse(row).name))) {
      const columns = table === "blob" ? "rid,rcvid,size,uuid" : "*";
      const rows = this.#rows(`SELECT ${columns} FROM "${table}"`);
      if (rows.length > 0) state[table] = rows;
    }
    return state;
  }

  #rows(sql: string): string[] {
    const db = new DatabaseSync(this.test.file, { readOnly: true });
    try {
      return db.prepare(sql).all().map((row) => JSON.stringify(row));
    } finally {
      db.close();
    }
  }
}

/** The card that brings an artifact or a file. */
export function fileOf(content: Artifact | Uint8Array): Card {
  const bytes = content instanceof Uint8Array ? content : formatArtifact(content);
  return { kind: "file", hash: sha3(bytes), source: null, content: bytes };
}

/** The card that brings an artifact as a delta of another content. */
export function deltaOf(content: Artifact | Uint8Array, source: Uint8Array): Card {
  const bytes = content instanceof Uint8Array ? content : formatArtifact(content);
  const delta = createDelta(source, bytes);
  return { kind: "file", hash: sha3(bytes), source: sha3(source), content: delta };
}

/** Cards with the checksum that makes them an artifact; each character is a byte. */
export function sealed(cards: string): Uint8Array {
  const bytes = Uint8Array.from(cards, (character) => character.charCodeAt(0));
  return new Uint8Array([...bytes, ...new TextEncoder().encode(`Z ${md5(bytes)}\n`)]);
}

/** Makes every attempt; afterwards, the next honest push works, and the server answers. */
export function hostile(
  name: string,
  attempts: (scene: HostileScene) => readonly Attempt[],
): void {
  Deno.test(name, THOROUGH, async () => {
    await HostileScene.run(async (scene) => {
      for (const attempt of attempts(scene)) await scene.attempt(attempt);
      await scene.honest(scene.checkin(scene.feature, { comment: "honest", date: scene.now + 1 }));
      const { checkins } = await scene.test.answer("GET /api/timeline?branch=feature");
      assert.equal(checkins[0].comment, "honest");
    });
  });
}

/** A message with this line after the `push` card. */
export function lineOf(scene: HostileScene, text: string | Uint8Array): Uint8Array {
  const head = new TextEncoder().encode(`push ${"a".repeat(40)} ${scene.projectCode}\n`);
  const rest = typeof text === "string" ? new TextEncoder().encode(`${text}\n`) : text;
  return new Uint8Array([...head, ...rest]);
}
