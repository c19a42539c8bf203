import type { NodeRecord, Nodes } from "../services/nodes/mod.ts";
import type { CallPlacement, Message } from "./forwarded_calls.ts";
import { isRecord } from "./plain_messages.ts";

/** The tools that only the node that leads can answer: it has the inboxes of agents in memory. */
const LEADER_TOOLS: ReadonlySet<string> = new Set([
  "read_inbox",
  "acknowledge_messages",
  "send_direct",
  "get_message_state",
]);

/** Calls that need the node that leads go there. */
export class LeaderCallPlacement implements CallPlacement {
  readonly #nodes: Pick<Nodes, "otherLeader">;

  constructor(nodes: Pick<Nodes, "otherLeader">) {
    this.#nodes = nodes;
  }

  nodeFor({ method, params }: Message): NodeRecord | null {
    if (method !== "tools/call" || !isRecord(params)) return null;
    return LEADER_TOOLS.has(String(params["name"])) ? this.#nodes.otherLeader() : null;
  }
}
