import type { Placement } from "../http/mod.ts";
import type { Mark, Nodes } from "../services/cluster/nodes/mod.ts";
import type { NodeRecord } from "../services/kernel/nodes.ts";
import { OPERATIONS_OF_LEADER } from "./operation_table.ts";
import { PathPatterns } from "./path_patterns.ts";
import type { Endpoint } from "./table.ts";

/**
 * The routes that only the node that leads can answer: it has the inboxes of agents in memory, sends
 * their messages, and runs herald and the sender of webhooks.
 */
export const LEADER_ROUTES = [
  ...OPERATIONS_OF_LEADER,
  "POST /webhooks/{name}",
] as const satisfies readonly Endpoint[];

export interface LeaderPlacementOptions {
  readonly nodes: Pick<Nodes, "otherLeader">;
  /** Pages that need the same, as a method and a pattern each: `POST /channels/{name}`. */
  readonly pages: readonly string[];
}

/** Requests that need the node that leads go there. */
export class LeaderPlacement implements Placement {
  readonly #nodes: LeaderPlacementOptions["nodes"];
  readonly #patterns: PathPatterns;

  constructor(options: LeaderPlacementOptions) {
    this.#nodes = options.nodes;
    this.#patterns = new PathPatterns([...LEADER_ROUTES, ...options.pages]);
  }

  nodeFor(request: Request, _mark: Mark | null): NodeRecord | null {
    return this.#patterns.matches(request) ? this.#nodes.otherLeader() : null;
  }
}
