/** Nodes in one process, on a database of PostgreSQL, whose time passes as a test likes. */
import { type Database, openPostgres } from "../../../../services/engines/database/mod.ts";
import {
  Draining,
  Leadership,
  NodeOperations,
  Nodes,
} from "../../../../services/cluster/nodes/mod.ts";
import { holdLeases, postgresOf } from "../../../support/postgres.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { TestLog } from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";
import { WAIT_LIMIT } from "../../../support/until.ts";

/** One of the nodes. */
export interface Node {
  readonly name: string;
  readonly database: Database;
  readonly nodes: Nodes;
  readonly leadership: Leadership;
  readonly draining: Draining;
  readonly operations: NodeOperations;
  readonly scheduler: TestScheduler;
}

/** What a test does with nodes. */
export interface Cluster {
  /** Starts a node, which ends with the test. */
  open(name: string, url?: string): Promise<Node>;
  /** Ends a node before the test ends. */
  close(node: Node): Promise<void>;
  /** Lets seconds pass on all nodes until something is so. */
  lookUntil(isSo: () => boolean): Promise<void>;
}

/** Runs a test on a database of its own. */
export function withCluster(run: (cluster: Cluster) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const url = await postgresOf(folder);
    const opened = new Set<Node>();
    let isHeld = false;
    try {
      await run({
        open: async (name, nodeUrl = `http://${name}.example`) => {
          const node = await openNode(url, { name, url: nodeUrl });
          if (!isHeld) await holdLeases(url);
          isHeld = true;
          opened.add(node);
          return node;
        },
        close: async (node) => {
          opened.delete(node);
          await node.database.close();
        },
        lookUntil: async (isSo) => {
          for (const start = performance.now(); !isSo();) {
            const waited = performance.now() - start;
            if (waited > WAIT_LIMIT) throw new Error(`This did not come to hold: ${isSo}`);
            await Promise.all([...opened].map(look));
          }
        },
      });
    } finally {
      for (const { database } of opened) await database.close();
    }
  });
}

/** Lets a second pass, and a node look at the others. */
async function look({ database, scheduler }: Node): Promise<void> {
  scheduler.advance(1000);
  // A look that was under way did not see this second; its lease would end if more passed meanwhile.
  await database.peers?.catchUp();
}

async function openNode(
  url: string,
  config: { readonly name: string; readonly url: string },
): Promise<Node> {
  const { name } = config;
  const scheduler = new TestScheduler();
  const database = await openPostgres({ url, password: null, cluster: { node: name, scheduler } });
  const nodes = await Nodes.open({ database, config, version: "1", scheduler }).catch(
    async (error) => {
      await database.close();
      throw error;
    },
  );
  const leadership = new Leadership({ database, log: new TestLog() });
  const draining = new Draining({ nodes, leadership, scheduler, log: new TestLog() });
  const operations = new NodeOperations({ database, nodes, scheduler });
  return { name, database, nodes, leadership, draining, operations, scheduler };
}
