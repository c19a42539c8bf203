import { type Database, type Directory, statement } from "../database/mod.ts";
import { foldCase } from "../irc/mod.ts";
import type { PeerBridges } from "./link_events.ts";
import { MAX_UNDERSCORES } from "./session.ts";

/** The bridge of a node. */
export interface NodeBridge {
  readonly node: string;
  /** As configured; while it is in use by somebody else, underscores follow it. */
  readonly nick: string;
  /** Its account on the network; null if it logs in to none. */
  readonly account: string | null;
}

export interface NodeBridgesOptions {
  readonly database: Database;
  readonly self: NodeBridge;
}

/**
 * The bridges of all nodes, in memory. Each node records its own, so a line is believed only from an
 * account that a node has named.
 */
export class NodeBridges implements PeerBridges, Directory {
  readonly tables = ["node_bridges"] as const;
  readonly #options: NodeBridgesOptions;
  #all: readonly NodeBridge[] = [];

  private constructor(options: NodeBridgesOptions) {
    this.#options = options;
  }

  /** Records the bridge of this node, which has joined the others, and reads all of them. */
  static async open(options: NodeBridgesOptions): Promise<NodeBridges> {
    const { database, self: { node, nick, account } } = options;
    const insertion = database.tables.insertInto("node_bridges").values({ node, nick, account })
      .onConflict((conflict) => conflict.column("node").doUpdateSet({ nick, account }));
    await database.commit({ statements: [statement(insertion)] });
    const bridges = new NodeBridges(options);
    await database.keepCurrent(bridges);
    return bridges;
  }

  async load(): Promise<void> {
    this.#all = await this.#options.database.tables.selectFrom("node_bridges").selectAll()
      .orderBy("node").execute();
  }

  isAccount(account: string): boolean {
    const folded = foldCase(account);
    return this.#all.some((bridge) =>
      bridge.account !== null && foldCase(bridge.account) === folded
    );
  }

  isNick(nick: string): boolean {
    const folded = foldCase(nick);
    return this.#others.some((bridge) => {
      const own = foldCase(bridge.nick);
      const rest = folded.startsWith(own) ? folded.slice(own.length) : null;
      return rest !== null && rest.length <= MAX_UNDERSCORES && /^_*$/.test(rest);
    });
  }

  get leader(): string | null {
    const node = this.#options.database.peers?.leader;
    return this.#all.find((bridge) => bridge.node === node)?.nick ?? null;
  }

  get nicks(): readonly string[] {
    return this.#others.map(({ nick }) => nick);
  }

  get #others(): readonly NodeBridge[] {
    const { self } = this.#options;
    return this.#all.filter(({ node }) => node !== self.node);
  }
}
