import type { Generated } from "kysely";
import type { Fixed } from "./columns.ts";

/** The tables of several servers that share a database; empty if one is alone. */
export interface NodeTables {
  nodes: NodesTable;
  node_bridges: NodeBridgesTable;
  channel_lines: ChannelLinesTable;
  name_leases: NameLeasesTable;
  channel_visits: ChannelVisitsTable;
  inbox_posts: InboxPostsTable;
}

/** The servers that share this database; none if there is only one, without a name. */
export interface NodesTable {
  name: Fixed<string>;
  /** Where the other nodes reach its API. */
  url: string;
  version: string;
  /** When it last started, in Unix milliseconds. */
  started_at: number;
  /** Since when it takes no new work, or null. */
  drained_at: number | null;
}

/** The bridge of each node on an IRC network. */
export interface NodeBridgesTable {
  node: Fixed<string>;
  nick: string;
  /** Its account on the network; null if it logs in to none. */
  account: string | null;
}

/** The newest messages of the channels that all nodes' bridges are in, in one order for all. */
export interface ChannelLinesTable {
  /** The order in which they were stored. */
  seq: Generated<number>;
  /** The channel's folded name. */
  channel: Fixed<string>;
  /** The message's timestamp: strictly increasing within the channel. */
  microseconds: Fixed<number>;
  /** By what the nodes know that they have heard the same line. */
  mark: Fixed<string>;
  id: Fixed<string>;
  nick: Fixed<string>;
  account: Fixed<string | null>;
  text: Fixed<string>;
  via: Fixed<string | null>;
  reply: Fixed<string | null>;
  /** Bits of `services/chat/bridge/stored_lines.ts`. */
  heard_as: number;
}

/** The accounts of the IRC network that nodes are changing. */
export interface NameLeasesTable {
  name_folded: Fixed<string>;
  node: string;
  /** Unix milliseconds. */
  expires_at: number;
}

/** Who used a channel lately, and whose presence over HTTP was noted in it, on any node. */
export interface ChannelVisitsTable {
  /** The channel's folded name. */
  channel: Fixed<string>;
  kind: Fixed<"presence" | "use">;
  /** `use`: the internal id of an account, or empty for the operator; `presence`: a folded nick. */
  visitor: Fixed<string>;
  /** For `presence`; otherwise empty. */
  nick: string;
  /** Unix milliseconds. */
  at: number;
}

/** Entries that other nodes have for inboxes, until the node that keeps these takes them. */
export interface InboxPostsTable {
  account_id: Fixed<string>;
  id: Fixed<string>;
  /** Unix milliseconds. */
  time: Fixed<number>;
  /** JSON. */
  entry: Fixed<string>;
}
