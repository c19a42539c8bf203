/** What became of messages. */

import { z } from "zod";
import { acknowledgementOf, ENTRY_STATES, INBOX_CAPACITY } from "../services/inboxes/mod.ts";
import type { CoordinationServices } from "./coordination_services.ts";
import { defineTool, type Tool } from "./tool.ts";

/** `acknowledge_messages` */
export function acknowledgeMessages({ inboxes }: CoordinationServices): Tool {
  return defineTool({
    name: "acknowledge_messages",
    description: "Removes messages from your inbox that you are done with. Until then, every " +
      "read_inbox returns them again, also after you or the server restart. Acknowledge a message " +
      "once you have acted on it, not before.",
    resource: "coordination",
    agentsOnly: true,
    input: {
      ids: z.array(z.string()).min(1).max(INBOX_CAPACITY).optional()
        .describe("Ids of the messages, as read_inbox shows them"),
      up_to: z.string().optional()
        .describe('In place of "ids": the id of a message; it and all before it'),
    },
    output: z.object({
      acknowledged: z.int(),
      unknown: z.array(z.string()).describe("Ids that are not in the inbox"),
      left: z.int().describe("How many messages are left"),
    }),
    readOnly: false,
    hints: { idempotentHint: true },
    async run({ ids, up_to: upTo }, { caller: { principal } }) {
      const what = acknowledgementOf(ids, upTo);
      const result = await inboxes.acknowledge(principal.name, what, principal);
      const { acknowledged, unknown, left } = result;
      return {
        text: `acknowledged ${acknowledged}, ${left} left` +
          (unknown.length === 0 ? "" : `; unknown: ${unknown.join(", ")}`),
        data: { acknowledged, unknown, left },
      };
    },
  });
}

/** `get_message_state` */
export function getMessageState({ directMessages }: CoordinationServices): Tool {
  return defineTool({
    name: "get_message_state",
    description: "Says what became of a message that you sent to an agent: queued (the agent is " +
      "away), delivered, read, acknowledged (it is done with it), bounced (it came back) or dropped.",
    resource: "coordination",
    input: { id: z.string().describe("message_id of send_direct") },
    output: z.object({
      id: z.string(),
      receivers: z.array(z.object({ nick: z.string().nullable(), state: z.enum(ENTRY_STATES) })),
    }),
    readOnly: true,
    advice: { notFound: "Use message_id of send_direct" },
    async run({ id }, { caller }) {
      const { receivers } = await directMessages.fate(id, caller);
      const states = receivers.map(({ nick, state }) => ({ nick, state }));
      return {
        text: states.map(({ nick, state }) => `${nick ?? "(deleted)"}: ${state}`).join("\n"),
        data: { id, receivers: states },
      };
    },
  });
}
