import type { Nodes } from "../services/cluster/nodes/mod.ts";
import type { NodeRecord } from "../services/kernel/nodes.ts";
import type { CallPlacement, Message } from "./forwarded_calls.ts";
import { isRecord } from "./plain_messages.ts";
import type { Tool } from "./tool.ts";

/** Calls that need the node that leads go there. */
export class LeaderCallPlacement implements CallPlacement {
  readonly #nodes: Pick<Nodes, "otherLeader">;
  readonly #names: ReadonlySet<string>;

  /** @param tools those of the server */
  constructor(nodes: Pick<Nodes, "otherLeader">, tools: readonly Pick<Tool, "name" | "head">[]) {
    this.#nodes = nodes;
    const onLeader = tools.filter(({ head }) => "runsOn" in head && head.runsOn === "leader");
    this.#names = new Set(onLeader.map(({ name }) => name));
  }

  nodeFor({ method, params }: Message): NodeRecord | null {
    if (method !== "tools/call" || !isRecord(params)) return null;
    return this.#names.has(String(params["name"])) ? this.#nodes.otherLeader() : null;
  }
}
