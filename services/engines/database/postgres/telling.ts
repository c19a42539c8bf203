// @ts-types="./pg.d.ts"
import type { Client } from "pg";
import type { PeerNotes } from "../store.ts";
import type { TellingKind } from "./messages.ts";

export interface TellingOptions {
  /** The name of this node. */
  readonly node: string;
  /** The channel by which nodes notify each other. */
  readonly channel: string;
  readonly connection: () => Promise<Client>;
  /** Takes what a node tells. A newer one may tell more. */
  readonly hear: (node: string, kind: TellingKind | string, told: string) => void;
}

/**
 * What a node tells the others: in notes if these reach all of them, and through PostgreSQL if not.
 * Each notification of PostgreSQL is a transaction, and wakes a process of it for each node.
 */
export class Telling {
  readonly #options: TellingOptions;
  #notes: PeerNotes | null = null;

  constructor(options: TellingOptions) {
    this.#options = options;
  }

  use(notes: PeerNotes): void {
    this.#notes = notes;
    notes.listen((node, text) => {
      const [kind, told] = cut(text);
      this.#options.hear(node, kind, told);
    });
  }

  /** Takes a notification of PostgreSQL. */
  take(payload: string): void {
    const [kind, rest] = cut(payload);
    const [node, told] = cut(rest);
    this.#options.hear(node, kind, told);
  }

  /** The other nodes that notes reach. */
  get reached(): readonly string[] {
    return this.#notes?.reached ?? [];
  }

  /**
   * Tells other nodes something; all that there are, if notes do not reach one of them.
   *
   * @throws the error of the connection
   */
  async tell(nodes: Iterable<string>, kind: TellingKind, told: string): Promise<void> {
    const others = new Set(nodes);
    others.delete(this.#options.node);
    if (others.size === 0 || this.#tellInNotes(others, `${kind} ${told}`)) return;
    await this.notify(kind, told);
  }

  /**
   * Tells all other nodes something through PostgreSQL.
   *
   * @throws the error of the connection
   */
  async notify(kind: TellingKind, told: string): Promise<void> {
    const { node, channel, connection } = this.#options;
    const client = await connection();
    await client.query({
      name: "notify",
      text: "SELECT pg_notify($1, $2)",
      values: [channel, `${kind} ${node} ${told}`],
    });
  }

  #tellInNotes(nodes: ReadonlySet<string>, text: string): boolean {
    let areTold = true;
    for (const node of nodes) areTold = (this.#notes?.tell(node, text) ?? false) && areTold;
    return areTold;
  }
}

/** The word before the first space, and what follows it. */
function cut(text: string): [word: string, rest: string] {
  const end = text.indexOf(" ");
  return end === -1 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
}
