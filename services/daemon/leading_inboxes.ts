import { Unavailable } from "../errors.ts";
import type { Inboxes, Notification } from "../inboxes/mod.ts";
import type { Leadership, NodeLinks, Nodes } from "../nodes/mod.ts";

export interface LeadingInboxesOptions {
  readonly inboxes: Pick<Inboxes, "notify">;
  readonly leadership: Pick<Leadership, "isLeading">;
  readonly nodes: Pick<Nodes, "leader">;
  readonly nodeLinks: NodeLinks | null;
}

/** The inboxes of agents, which are on the node that leads. */
export class LeadingInboxes implements Pick<Inboxes, "notify"> {
  readonly #options: LeadingInboxesOptions;

  constructor(options: LeadingInboxesOptions) {
    this.#options = options;
  }

  /** @throws Unavailable if the leading node does not take them; what inboxes throw */
  async notify(entries: readonly Notification[]): Promise<void> {
    const { inboxes, leadership, nodes, nodeLinks } = this.#options;
    if (nodeLinks === null || leadership.isLeading) return await inboxes.notify(entries);
    const { leader } = nodes;
    if (leader === null) throw new Unavailable("No node leads at the moment");
    const body = JSON.stringify(
      entries.map(({ agent, time, entry }) => ({ agent: agent.id, time, entry })),
    );
    const target = "/internal/notifications";
    const response = await nodeLinks.client.ask(leader, { method: "POST", target, body });
    if (response.ok) return void await response.body?.cancel();
    const { error } = await response.json();
    throw new Unavailable(`The leading node takes no notifications: ${error}`);
  }
}
