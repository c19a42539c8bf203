/** What became of messages. */

import { z } from "zod";
import { ENTRY_STATES, INBOX_CAPACITY } from "../services/chat/inboxes/mod.ts";
import * as inboxes from "../services/chat/inboxes/operations.ts";
import { type Tool, tool } from "./tool.ts";

const acknowledgeMessages = tool({
  name: "acknowledge_messages",
  description: "Removes messages from your inbox that you are done with. Until then, read_inbox " +
    "returns them again, also after a restart. Acknowledge a message once you have acted on " +
    "it, not before.",
  does: inboxes.acknowledgeMessages,
  sees: ({ kind }, may) => may && kind === "agent",
  refusal: "Only agents have an inbox",
  input: {
    ids: z.array(z.string()).min(1).max(INBOX_CAPACITY).optional()
      .describe("Ids of the messages, as read_inbox shows them"),
    up_to: z.string().optional()
      .describe('In place of "ids": the id of a message; it and all before it'),
  },
  output: {
    acknowledged: z.int(),
    unknown: z.array(z.string()).describe("Ids that are not in the inbox"),
    left: z.int().describe("How many messages are left"),
  },
  hints: { idempotentHint: true },
  async run(what, call) {
    const nick = call.principal.name;
    const result = await call.invoke(inboxes.acknowledgeMessages, { nick, ...what });
    const { acknowledged, unknown, left } = result;
    return {
      text: `acknowledged ${acknowledged}, ${left} left` +
        (unknown.length === 0 ? "" : `; unknown: ${unknown.join(", ")}`),
      data: { acknowledged, unknown, left },
    };
  },
});

const getMessageState = tool({
  name: "get_message_state",
  description: "Says what became of a message that you sent to an agent: queued (the agent is " +
    "away), delivered, read, acknowledged (it is done with it), bounced (it came back) or dropped.",
  does: inboxes.getMessageFate,
  input: { id: z.string().describe("message_id of send_direct") },
  output: {
    id: z.string(),
    receivers: z.array(z.object({ nick: z.string().nullable(), state: z.enum(ENTRY_STATES) })),
  },
  advice: { notFound: "Use message_id of send_direct" },
  async run({ id }, call) {
    const { receivers } = await call.invoke(inboxes.getMessageFate, { id });
    const states = receivers.map(({ nick, state }) => ({ nick, state }));
    return {
      text: states.map(({ nick, state }) => `${nick ?? "(deleted)"}: ${state}`).join("\n"),
      data: { id, receivers: states },
    };
  },
});

/** `acknowledge_messages` and `get_message_state`. */
export const deliveryTools: readonly Tool[] = [acknowledgeMessages, getMessageState];
