/** Several nodes with one database of PostgreSQL, whose bridges are on one IRC server in memory. */
import {
  Bridge,
  type BridgeNodes,
  type BridgeOptions,
  type ChannelMessage,
  NodeBridges,
  SharedChannels,
  StoredLines,
  StoredVisits,
} from "../../../../services/chat/bridge/mod.ts";
import { type Database, openPostgres } from "../../../../services/engines/database/mod.ts";
import type { IrcServer } from "../../../../services/engines/irc/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { Leadership, Nodes } from "../../../../services/cluster/nodes/mod.ts";
import { systemScheduler } from "../../../../services/kernel/scheduler.ts";
import { peer } from "../../../support/peers.ts";
import { postgresOf } from "../../../support/postgres.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { withFolder } from "../../../support/temporary.ts";
import { WAIT_LIMIT } from "../../../support/until.ts";
import { openServer, wayTo } from "./support.ts";

/** A node with its bridge. */
export interface TestNode {
  readonly name: string;
  readonly bridge: Bridge;
  readonly database: Database;
  readonly nodes: BridgeNodes;
  readonly leadership: Leadership;
  /** The scheduler of the bridge. */
  readonly scheduler: TestScheduler;
  /** Breaks the bridge's connection to IRC. */
  disconnect(): void;
  /** Keeps from the bridge what nodes store, until the returned function is called. */
  hold(): () => void;
  stop(): Promise<void>;
}

export interface NodesWorld {
  readonly server: IrcServer;
  /** Time on the IRC server. */
  readonly time: TestScheduler;
  /** Starts a node whose bridge is ready. */
  start(name: string, options?: Partial<BridgeOptions>): Promise<TestNode>;
}

/** Lines that reach a node late, as over a slow connection to the database. */
class LateLines extends StoredLines {
  #held: Promise<void> = Promise.resolve();

  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return resolve;
  }

  override onAdded(listener: Parameters<StoredLines["onAdded"]>[0]): () => void {
    return super.onAdded(async (added) => {
      await this.#held;
      await listener(added);
    });
  }
}

/** Lets the bridge's time go on until a channel has so many messages, and reads them. */
export async function shownOn(
  { bridge, scheduler }: TestNode,
  count: number,
  channel = "general",
): Promise<ChannelMessage[]> {
  const deadline = Date.now() + WAIT_LIMIT;
  for (;;) {
    const messages = await bridge.messages(channel, {});
    if (messages.length >= count) return messages;
    if (Date.now() > deadline) throw new Error(`There are only ${messages.length} messages`);
    scheduler.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** Declares a test with nodes on a server. */
export function testNodes(name: string, run: (world: NodesWorld) => Promise<void>): void {
  Deno.test(name, peer("postgres server"), () => withFolder((folder) => withNodes(folder, run)));
}

async function withNodes(folder: string, run: (world: NodesWorld) => Promise<void>) {
  const url = await postgresOf(folder);
  const time = new TestScheduler();
  const server = openServer(time);
  const started: TestNode[] = [];
  try {
    await run({
      server,
      time,
      start: async (name, options = {}) => {
        const node = await startNode(name, { url, server, options });
        started.push(node);
        await node.bridge.whenReady();
        return node;
      },
    });
  } finally {
    for (const node of started.toReversed()) await node.stop();
    await server.close();
  }
}

async function startNode(
  name: string,
  { url, server, options }: {
    readonly url: string;
    readonly server: IrcServer;
    readonly options: Partial<BridgeOptions>;
  },
): Promise<TestNode> {
  const database = await openPostgres({
    url,
    password: null,
    cluster: { node: name, scheduler: systemScheduler },
  });
  const config = { name, url: `http://${name}.test` };
  await Nodes.open({ database, config, version: "1", scheduler: systemScheduler });
  const leadership = new Leadership({ database, log: silentLog });
  const nick = `bridge-${name}`;
  const lines = new LateLines(database);
  const nodes: BridgeNodes = {
    peers: await NodeBridges.open({
      database,
      self: { node: name, nick, account: nick },
    }),
    channels: await SharedChannels.open(database, ["#general"]),
    lines,
    seen: await lines.newest(),
    visits: new StoredVisits(database),
    isLeading: () => leadership.isLeading,
    gatherMilliseconds: 0,
    onWrote(listener) {
      const ends = [database.onPeerWrote(listener), database.onPeersLooked(() => listener(null))];
      return () => ends.forEach((end) => end());
    },
  };
  let connection: { close(): void } | null = null;
  const scheduler = new TestScheduler();
  const bridge = new Bridge({
    nick,
    channels: ["general"],
    bufferSize: 500,
    maxChannels: 20,
    maxChannelsPerAgent: 3,
    webUserTtlMilliseconds: () => 300_000,
    connect: wayTo(server, "lines", { nick, onConnection: (made) => connection = made }),
    log: silentLog,
    scheduler,
    random: () => 0,
    nodes,
    ...options,
  });
  bridge.start();
  await leadership.begin();
  let isStopped = false;
  return {
    name,
    bridge,
    database,
    nodes,
    leadership,
    scheduler,
    disconnect: () => connection?.close(),
    hold: () => lines.hold(),
    async stop() {
      if (isStopped) return;
      isStopped = true;
      await leadership.end();
      await bridge.stop();
      await database.close();
    },
  };
}
