import assert from "node:assert/strict";
import { statement } from "../../../../services/engines/database/mod.ts";
import { Conflict, NotFound } from "../../../../services/kernel/errors.ts";
import { Nodes } from "../../../../services/cluster/nodes/mod.ts";
import { LEAVE_AFTER } from "../../../../services/cluster/nodes/leadership.ts";
import { peer } from "../../../support/peers.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { type Node, withCluster } from "./cluster.ts";

/** Puts a project on a node. */
async function addProject(
  { database }: Node,
  slug: string,
  home: string,
  removedAt: number | null = null,
): Promise<void> {
  const row = {
    id: slug,
    slug,
    name: slug,
    description: "",
    visibility: "private" as const,
    channel: null,
    settings: "{}",
    created_at: 1,
    archived_at: null,
    removed_at: removedAt,
    home,
  };
  await database.commit({
    statements: [statement(database.tables.insertInto("projects").values(row))],
  });
}

async function nodeEvents({ database }: Node): Promise<string[]> {
  const rows = await database.tables.selectFrom("events").select(["type", "data"])
    .where("type", "like", "node.%").orderBy("seq").execute();
  return rows.map(({ type, data }) => `${type} ${JSON.parse(data).node}`);
}

Deno.test(
  "a drained node leads no more, also after a restart",
  peer("postgres server"),
  () =>
    withCluster(async ({ open, close, lookUntil }) => {
      const [a, b] = [await open("a"), await open("b")];
      let asked = 0;
      a.draining.onLeave(() => asked++);
      await a.draining.begin();
      await lookUntil(() => a.leadership.isLeading);
      await b.draining.begin();

      await b.operations.drain("a", BY_OPERATOR);
      assert.equal(a.draining.isDrained, true, "it knows before the answer");
      await lookUntil(() => b.leadership.isLeading);
      assert.equal(a.leadership.isLeading, false);
      a.scheduler.advance(LEAVE_AFTER);
      assert.equal(asked, 1);
      await b.operations.drain("a", BY_OPERATOR);
      const states = (await b.operations.list()).map(({ name, state, leader, self }) => (
        { name, state, leader, self }
      ));
      assert.deepEqual(states, [
        { name: "a", state: "draining", leader: false, self: false },
        { name: "b", state: "running", leader: true, self: true },
      ]);

      await a.draining.end();
      await close(a);
      await lookUntil(() => !b.nodes.isRunning("a"));
      const again = await open("a");
      assert.equal(again.draining.isDrained, true);
      await again.draining.begin();
      await lookUntil(() => b.nodes.isRunning("a"));
      await lookUntil(() => b.leadership.isLeading);
      assert.equal(again.leadership.isLeading, false);

      await again.operations.resume("a", BY_OPERATOR);
      await b.draining.end();
      await lookUntil(() => again.leadership.isLeading);
      await again.draining.end();
      assert.deepEqual(await nodeEvents(again), [
        "node.joined a",
        "node.joined b",
        "node.drained a",
        "node.joined a",
        "node.resumed a",
      ]);
    }),
);

Deno.test(
  "one node at least takes work",
  peer("postgres server"),
  () =>
    withCluster(async ({ open, lookUntil }) => {
      const [a, b] = [await open("a"), await open("b")];
      await lookUntil(() => a.nodes.isRunning("b") && b.nodes.isRunning("a"));
      const outcomes = await Promise.allSettled([
        a.operations.drain("a", BY_OPERATOR),
        b.operations.drain("b", BY_OPERATOR),
      ]);
      const refused = outcomes.filter(({ status }) => status === "rejected");
      assert.equal(refused.length, 1);
      await assert.rejects(
        a.operations.drain("a", BY_OPERATOR).then(() => a.operations.drain("b", BY_OPERATOR)),
        Conflict,
      );
      await assert.rejects(a.operations.drain("c", BY_OPERATOR), NotFound);
      await assert.rejects(a.operations.resume("c", BY_OPERATOR), NotFound);
    }),
);

Deno.test(
  "a node is removed once it is stopped and has no projects",
  peer("postgres server"),
  () =>
    withCluster(async ({ open, close, lookUntil }) => {
      const [a, b] = [await open("a"), await open("b")];
      await lookUntil(() => a.nodes.isRunning("b"));
      await addProject(a, "demo", "b");
      await assert.rejects(a.operations.remove("b", BY_OPERATOR), /"b" runs/);
      await close(b);
      await lookUntil(() => !a.nodes.isRunning("b"));
      await assert.rejects(a.operations.remove("b", BY_OPERATOR), /has projects/);
      const projects = (await a.operations.list()).map(({ name, projects }) => [name, projects]);
      assert.deepEqual(projects, [["a", 0], ["b", 1]]);

      const moving = a.database.tables.updateTable("projects").set({ home: "a" });
      await a.database.commit({ statements: [statement(moving)] });
      await addProject(a, "old", "b", 2);
      await a.operations.remove("b", BY_OPERATOR);
      assert.deepEqual(a.nodes.all().map(({ name }) => name), ["a"]);
      await assert.rejects(a.operations.remove("b", BY_OPERATOR), NotFound);
      assert.equal((await nodeEvents(a)).at(-1), "node.removed b");
    }),
);

Deno.test(
  "a node with the URL of a running one does not start",
  peer("postgres server"),
  () =>
    withCluster(async ({ open, close }) => {
      const a = await open("a");
      await assert.rejects(open("b", "http://a.example/"), {
        name: "DatabaseError",
        message: /^The node "a" runs and has the node\.url http:\/\/a\.example\/ too/,
      });
      await close(a);
      const b = await open("b", "http://a.example/");
      assert.deepEqual(b.nodes.all().map(({ name }) => name), ["a", "b"]);
    }),
);

Deno.test(
  "a server that is alone lists no nodes, although the database tells of some",
  peer("postgres server"),
  () =>
    withCluster(async ({ open }) => {
      const { database, scheduler } = await open("a");
      const alone = await Nodes.open({
        database,
        config: { name: "", url: "" },
        version: "1",
        scheduler,
      });
      assert.deepEqual(alone.all(), []);
    }),
);
