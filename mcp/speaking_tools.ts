import { z } from "zod";
import { readChannelName } from "../services/chat/bridge/mod.ts";
import * as bridge from "../services/chat/bridge/operations.ts";
import { clientIdSchema } from "../services/chat/messages/schemas.ts";
import { Invalid } from "../services/kernel/errors.ts";
import { sendToAgent } from "../services/chat/inboxes/operations.ts";
import type { ToolAdvice } from "../services/people/identity/operation.ts";
import { type Tool, tool } from "./tool.ts";

const channel = z.string()
  .describe("Such as #general; a new name makes a channel");
const text = z.string().describe("Plain words, at most 64 KiB and 100 lines");

/** What to do if a message was not sent, or may not have been sent. */
const SENDING_ADVICE: ToolAdvice = {
  conflict: "To reach one agent alone, use send_direct; else ask an operator of the channel",
  timedOut: "It may have been sent all the same: look at get_history before you send it again",
};

const { type, payload, to } = bridge.sendMessage.declared.input.shape;

/** `send_message`, which the contract has among its first five. */
export const sendMessage = tool({
  name: "send_message",
  description:
    "Sends a typed message, a JSON envelope, to a channel, for programs and agents to act " +
    'on: "type" and "payload", or "text" in their place. "to" puts it into the inboxes of ' +
    "agents of the channel; without it, it is for anyone who reads. To wait for answers, " +
    'call read_inbox with "wait_seconds".',
  does: bridge.sendMessage,
  input: {
    channel,
    type: type.describe(
      'Such as task.create; required unless "text" is given',
    ),
    payload: payload.describe("Its content"),
    to: to.describe(
      'Whom it is for: nicks, "@all", types such as "@workers", or "@build*" for all nicks ' +
        "that begin so",
    ),
    text: text.optional().describe('Plain words in place of "type" and "payload"'),
  },
  output: {
    channel: z.string(),
    envelope_id: z.string().optional()
      .describe('Give it as "since" to get_history to read what came after the message'),
    not_reached: z.array(z.string()).optional()
      .describe('Agents in "to" that are not in the channel and did not get the message'),
  },
  advice: SENDING_ADVICE,
  async run(message, call) {
    const sent = await call.invoke(bridge.sendMessage, message);
    const { channel, not_reached: missed } = sent;
    const text = `message sent to ${channel}`;
    if (missed === undefined) return { text, data: sent };
    const list = new Intl.ListFormat("en").format(missed.map((nick) => `"${nick}"`));
    return {
      text,
      data: sent,
      more: `${list} did not get it in the inbox, not being in ${channel}: use send_direct, or ` +
        "ask the operator",
    };
  },
});

const sendDirect = tool({
  name: "send_direct",
  description:
    "Says something to one agent or person alone, to answer what was said to you alone. An " +
    "agent finds it in its inbox, also later; a person must be on IRC now. Everything else " +
    "belongs in a channel, where others can follow it.",
  does: sendToAgent,
  input: {
    to: z.string().describe("Nick of the agent or person"),
    text,
    client_id: clientIdSchema.optional()
      .describe("Your own id of the message, so that it is not sent twice"),
  },
  output: {
    to: z.string(),
    sent: z.literal(true),
    message_id: z.string().optional()
      .describe("Give it to get_message_state to ask what became of the message"),
  },
  advice: {
    notFound: "Use the nick that read_inbox, get_history or list_channels shows",
    conflict: "Leave word in a channel with the tool post, or try again later",
    timedOut: "It may have been sent all the same, so do not repeat it at once",
  },
  async run({ to, text, client_id }, call) {
    if (to.startsWith("#")) throw new Invalid(`"${to}" is a channel: use the tool post`);
    let place: string | undefined;
    await call.invoke(sendToAgent, { nick: to, message: { text, client_id } }, {
      onHeaders: ({ Location }) => place = Location,
    });
    const id = place === undefined ? {} : { message_id: decodeURIComponent(place.slice(MESSAGES)) };
    return { text: `message sent to ${to}`, data: { to, sent: true, ...id } };
  },
});

/** Where the id of a message begins in its path. */
const MESSAGES = "/v1/messages/".length;

const post = tool({
  name: "post",
  description:
    "Says something in plain words in a channel, for people and agents alike. Name an agent " +
    "in the text, and it is in its inbox too. send_message is for what programs act on, " +
    "send_direct for one reader alone.",
  does: bridge.postToChannel,
  input: { channel, text },
  output: { channel: z.string(), posted: z.literal(true) },
  advice: SENDING_ADVICE,
  async run({ channel, text }, call) {
    await call.invoke(bridge.postToChannel, { channel, text });
    const name = readChannelName(channel);
    return { text: `posted to ${name}`, data: { channel: name, posted: true } };
  },
});

/** `send_direct` and `post`. */
export const speakingTools: readonly Tool[] = [sendDirect, post];
