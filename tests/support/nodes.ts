/** The services of several nodes with one database of PostgreSQL, each in a folder of its own. */
import { join } from "node:path";
import { systemScheduler } from "../../services/kernel/scheduler.ts";
import { NODE_KEY_FILES } from "../../services/cluster/nodes/mod.ts";
import { peer } from "./peers.ts";
import { postgresOf } from "./postgres.ts";
import { TestScheduler } from "./scheduler.ts";
import { openServices, type TestServices, type TestServicesOptions } from "./services.ts";
import { withFolder } from "./temporary.ts";

/** The time of the process, by which leases run. */
class RunningScheduler extends TestScheduler {
  override readonly now = systemScheduler.now;
  override readonly steady = systemScheduler.steady;

  override after(milliseconds: number, run: () => void): () => void {
    return systemScheduler.after(milliseconds, run);
  }
}

/** Opens nodes. */
export interface TestNodes {
  /** The URL of the database. */
  readonly url: string;
  /** The folder of a node. */
  folderOf(name: string): string;
  /** Opens a node, with the keys of the first one. */
  open(name: string, options?: TestServicesOptions): Promise<TestServices>;
  /** Opens a node, with the keys that its folder has. */
  openAsIs(name: string, options?: TestServicesOptions): Promise<TestServices>;
}

/** Defines a test of several nodes. It closes those that it has opened. */
export function testNodes(name: string, run: (nodes: TestNodes) => Promise<void>): void {
  Deno.test(name, peer("postgres server"), () =>
    withFolder(async (folder) => {
      await using opened = new AsyncDisposableStack();
      const url = await postgresOf(folder);
      const folderOf = (node: string) => join(folder, node);
      let first: string | null = null;
      const openAsIs: TestNodes["open"] = async (node, options = {}) => {
        first ??= node;
        await Deno.mkdir(folderOf(node), { recursive: true });
        const database = options.node?.database ?? url;
        const clock = new RunningScheduler();
        const irc = { history: { persist: true }, ...options.config?.["irc"] };
        const config = { ...options.config, irc };
        const given = { ...options, config, node: { name: node, database } };
        const services = await openServices(folderOf(node), given, clock);
        opened.defer(() => services.close());
        await services.leadership.begin();
        return services;
      };
      const open: TestNodes["open"] = async (node, options) => {
        if (first !== null && node !== first) await copyKeys(folderOf(first), folderOf(node));
        return await openAsIs(node, options);
      };
      await run({ url, folderOf, open, openAsIs });
    }));
}

/** Copies the keys of which all nodes need the same. */
export async function copyKeys(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for (const name of NODE_KEY_FILES) await Deno.copyFile(join(from, name), join(to, name));
}
