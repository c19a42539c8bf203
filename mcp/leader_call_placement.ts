import type { Nodes } from "../services/cluster/nodes/mod.ts";
import type { NodeRecord } from "../services/kernel/nodes.ts";
import type { CallPlacement, Message } from "./forwarded_calls.ts";
import { isRecord } from "./json_rpc.ts";

/** The methods that need the node that leads: it has the subscriptions of receivers. */
const METHODS: ReadonlySet<unknown> = new Set(["events/subscribe", "events/unsubscribe"]);

/** Calls that need the node that leads go there. */
export class LeaderCallPlacement implements CallPlacement {
  readonly #nodes: Pick<Nodes, "otherLeader">;
  readonly #names: ReadonlySet<string>;

  /** @param names those of the tools */
  constructor(nodes: Pick<Nodes, "otherLeader">, names: readonly string[]) {
    this.#nodes = nodes;
    this.#names = new Set(names);
  }

  nodeFor({ method, params }: Message): NodeRecord | null {
    const isItsTool = method === "tools/call" && isRecord(params) &&
      this.#names.has(String(params["name"]));
    return isItsTool || METHODS.has(method) ? this.#nodes.otherLeader() : null;
  }
}
