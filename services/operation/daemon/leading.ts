import type { Leadership, LeadingWork, Nodes } from "../../cluster/nodes/mod.ts";

/** Where work runs that one node does for all. */
export interface LeadingPlace {
  readonly nodes: Nodes;
  readonly leadership: Leadership;
}

/**
 * Starts work on the node that leads, whenever there is one. A server that is alone starts it at
 * once, and stops it with the stack.
 */
export async function startLeading(
  { nodes, leadership }: LeadingPlace,
  work: LeadingWork,
  started: AsyncDisposableStack,
): Promise<void> {
  if (nodes.self !== null) return leadership.add(work);
  await work.start();
  started.defer(() => work.stop());
}
