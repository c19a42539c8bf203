import { Marks } from "./marks.ts";
import { NodeClient } from "./node_client.ts";
import type { Nodes } from "./nodes.ts";
import { NodeNotes } from "./notes.ts";

/** Keeps the key of marks apart from what else is derived from the same key. */
const PURPOSE = "muster node mark ";

/** What requests from and to other nodes need, and what nodes tell each other. */
export interface NodeLinks {
  readonly marks: Marks;
  readonly client: NodeClient;
  readonly notes: NodeNotes;
}

export interface NodeLinksOptions {
  readonly nodes: Nodes;
  /** All nodes have the same. */
  readonly tokenKey: { mac(purpose: string, text: string): Promise<string> };
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Makes the links to other nodes; null if this server is alone. */
export async function openNodeLinks(options: NodeLinksOptions): Promise<NodeLinks | null> {
  const { nodes, tokenKey, clock } = options;
  const self = nodes.find(nodes.self ?? "");
  if (self === null) return null;
  const marks = new Marks({ key: await tokenKey.mac(PURPOSE, ""), self, clock });
  const client = new NodeClient({ nodes, marks });
  return { marks, client, notes: new NodeNotes({ nodes, client, clock }) };
}
