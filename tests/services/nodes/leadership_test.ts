import assert from "node:assert/strict";
import { type Database, openPostgres } from "../../../services/database/mod.ts";
import { Leadership, Nodes } from "../../../services/nodes/mod.ts";
import { peer } from "../../support/peers.ts";
import { postgresOf } from "../../support/postgres.ts";
import { TestScheduler } from "../../support/scheduler.ts";
import { TestLog } from "../../support/services.ts";
import { withFolder } from "../../support/temporary.ts";

interface Node {
  readonly name: string;
  readonly nodes: Nodes;
  readonly leadership: Leadership;
  /** Lets a second pass, and the node look at the others. */
  look(): Promise<void>;
}

async function openNode(url: string, name: string, opened: Database[]): Promise<Node> {
  const scheduler = new TestScheduler();
  const database = await openPostgres({ url, password: null, cluster: { node: name, scheduler } });
  opened.push(database);
  const config = { name, url: `http://${name}.example` };
  const nodes = await Nodes.open({ database, config, version: "1", scheduler });
  const leadership = new Leadership({ database, log: new TestLog() });
  const look = async () => {
    const { promise: looked, resolve } = Promise.withResolvers<void>();
    const end = database.onPeersLooked(resolve);
    scheduler.advance(1000);
    await looked;
    end();
  };
  return { name, nodes, leadership, look };
}

Deno.test(
  "one node does the work of the leader, and another one takes it over",
  peer("postgres server"),
  () =>
    withFolder(async (folder) => {
      const url = await postgresOf(folder);
      const opened: Database[] = [];
      try {
        const first = await openNode(url, "first", opened);
        const second = await openNode(url, "second", opened);
        const doing: string[] = [];
        for (const { name, leadership } of [first, second]) {
          leadership.add({
            start: () => void doing.push(`${name} starts`),
            stop: () => void doing.push(`${name} stops`),
          });
        }
        const lookUntil = async (isSo: () => boolean) => {
          while (!isSo()) await Promise.all([first.look(), second.look()]);
        };
        await first.leadership.begin();
        await lookUntil(() => first.leadership.isLeading);
        await second.leadership.begin();
        await lookUntil(() => second.nodes.leader !== null);
        assert.equal(second.nodes.leader?.name, "first");
        assert.deepEqual(second.nodes.all().map(({ name }) => name), ["first", "second"]);
        assert.deepEqual(doing, ["first starts"]);

        await first.leadership.end();
        await lookUntil(() => second.leadership.isLeading);
        assert.deepEqual(doing, ["first starts", "first stops", "second starts"]);
        await second.leadership.end();
      } finally {
        for (const database of opened) await database.close();
      }
    }),
);

Deno.test("a server that is alone leads until it ends", async () => {
  const doing: string[] = [];
  const database = { peers: null, onPeersLooked: () => () => {} };
  const leadership = new Leadership({ database, log: new TestLog() });
  leadership.add({
    start: () => Promise.reject(new Error("no")),
    stop: () => void doing.push("one stops"),
  });
  leadership.add({
    start: () => void doing.push("two starts"),
    stop: () => void doing.push("two stops"),
  });
  await leadership.begin();
  await leadership.end();
  assert.deepEqual(doing, ["two starts", "two stops", "one stops"]);
});
