import assert from "node:assert/strict";
import { NodeNotes, NOTES_TARGET } from "../../services/cluster/nodes/mod.ts";
import type { NodeRecord } from "../../services/kernel/nodes.ts";
import { until } from "../support/until.ts";
import { startHttpServer } from "./support.ts";
import { nodeRecord } from "./two_nodes.ts";

/** A node with a real server, whose looks at the others a test makes. */
class TestNode implements AsyncDisposable {
  readonly heard: string[] = [];
  readonly notes: NodeNotes;
  readonly record: NodeRecord;
  /** How often other nodes have asked this one. */
  asked = 0;
  look: () => void = () => {};
  readonly #server: ReturnType<typeof startHttpServer>;

  constructor(name: string, others: readonly TestNode[], world: { now: number }) {
    this.#server = startHttpServer((request) => {
      this.asked++;
      return this.notes.answer(new URL(request.url).searchParams.get("from") ?? "");
    });
    this.record = nodeRecord(name, `http://127.0.0.1:${this.#server.port}`);
    this.notes = new NodeNotes({
      nodes: {
        self: name,
        all: () => others.map(({ record }) => record),
        isRunning: () => true,
        onLooked: (listener) => {
          this.look = listener;
          return () => this.look = () => {};
        },
      },
      client: {
        ask: (node, { target, signal }) => {
          assert.equal(target, NOTES_TARGET);
          return fetch(`${node.url}?from=${name}`, signal === undefined ? {} : { signal });
        },
      },
      clock: () => world.now,
    });
    this.notes.listen((peer, text) => this.heard.push(`${peer}: ${text}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.notes.close();
    await this.#server.stop();
  }
}

/** Runs a test with two nodes that know each other. */
async function withTwo(
  run: (one: TestNode, other: TestNode, world: { now: number }) => Promise<void>,
): Promise<void> {
  const world = { now: 1_000_000 };
  const nodes: TestNode[] = [];
  await using one = new TestNode("one", nodes, world);
  await using other = new TestNode("other", nodes, world);
  nodes.push(one, other);
  await run(one, other, world);
}

Deno.test("nodes tell each other notes, in order, over one request each way", () =>
  withTwo(async (one, other) => {
    assert.deepEqual(one.notes.reached, []);
    assert.equal(one.notes.tell("other", "too early"), false);
    for (let looks = 0; looks < 3; looks++) [one, other].forEach((node) => node.look());
    await until(() => one.notes.reached.length + other.notes.reached.length === 2);
    const texts = Array.from({ length: 500 }, (_, index) => `{"text": "ä ${index}"}`);
    for (const text of texts) assert.equal(one.notes.tell("other", text), true);
    assert.equal(other.notes.tell("one", "back"), true);
    assert.equal(one.notes.tell("nobody", "x"), false);
    assert.equal(one.notes.tell("other", "two\nlines"), false);
    await until(() => other.heard.length === texts.length && one.heard.length === 1);
    assert.deepEqual(other.heard, texts.map((text) => `one: ${text}`));
    assert.deepEqual(one.heard, ["other: back"]);
    assert.deepEqual([one.asked, other.asked], [1, 1]);
  }));

Deno.test("a node that is not heard of any more is asked again", () =>
  withTwo(async (one, other, world) => {
    other.look();
    await until(() => one.notes.reached.length === 1);
    // A word within half a minute is enough.
    for (let turn = 1; turn <= 3; turn++) {
      world.now += 20_000;
      one.notes.tell("other", "here");
      await until(() => other.heard.length === turn);
      other.look();
    }
    assert.equal(one.asked, 1);
    world.now += 30_000;
    const { asked } = one;
    other.look();
    await until(() => one.asked > asked);
    await until(() => one.notes.tell("other", "again"));
    await until(() => other.heard.at(-1) === "one: again");
  }));

Deno.test("a node that is silent is told in another way until it asks again", () =>
  withTwo(async (one, other, world) => {
    [one, other].forEach((node) => node.look());
    await until(() => one.notes.reached.length + other.notes.reached.length === 2);
    world.now += 30_000;
    other.look();
    assert.equal(other.notes.tell("one", "lost"), false);
    const asksAgain = () => {
      world.now += 1_000;
      one.look();
      return other.notes.tell("one", "again");
    };
    await until(asksAgain);
    await until(() => one.heard.at(-1) === "other: again");
  }));

Deno.test("an answer that ends is asked for again after a pause, and not from a closed node", () =>
  withTwo(async (one, other, world) => {
    other.look();
    await until(() => one.notes.reached.length === 1);
    one.notes.close();
    assert.deepEqual(one.notes.reached, []);
    assert.equal(one.notes.tell("other", "late"), false);
    const asksAgain = () => {
      world.now += 1_000;
      other.look();
      return one.asked >= 2;
    };
    await until(asksAgain);
    assert.equal(one.notes.answer("other").status, 503);
  }));

Deno.test("a node that reads too slowly is told in another way", () =>
  withTwo(async (one) => {
    const answer = one.notes.answer("slow");
    const long = "x".repeat(1024 * 1024);
    // Nobody reads it.
    await until(() => !one.notes.tell("slow", long));
    assert.deepEqual(one.notes.reached, []);
    await answer.body?.cancel();
  }));
