import { z } from "zod";
import { AGENT_TYPES } from "../services/agents/mod.ts";
import { formatEnvelope, parseEnvelope, readChannelName } from "../services/bridge/mod.ts";
import { Invalid, NotFound } from "../services/errors.ts";
import { type Caller, speakerName } from "../services/identity/mod.ts";
import { clientIdSchema } from "../services/inboxes/schemas.ts";
import { foldCase, isNick } from "../services/irc/mod.ts";
import { type CoordinationServices, running } from "./coordination_services.ts";
import type { Advice } from "./advice.ts";
import { defineTool, type Tool, type ToolOutput } from "./tool.ts";

/** Most addressees of one message. */
const MAX_ADDRESSEES = 50;

const channel = z.string()
  .describe("Name of the channel, such as #general; a name that is not in use makes a channel");
const text = z.string().describe("Plain words, at most 64 KiB and 100 lines");

const GROUP = /^@[A-Za-z0-9[\]\\`_^{|}-]{1,64}\*?$/;

const addressee = z.string().refine((name) => isNick(name) || GROUP.test(name), {
  error: 'must be a nick, "@all", a type such as "@workers", or "@" and the beginning of nicks ' +
    'with a star, such as "@build*"',
});

/** What to do if a message was not sent, or may not have been sent. */
const SENDING_ADVICE: Advice = {
  conflict: "To reach one agent alone, use send_direct; else ask an operator of the channel",
  timedOut: "It may have been sent all the same: look at get_history before you send it again",
};

/** `send_message` */
export function sendMessage(services: CoordinationServices): Tool {
  const { bridge, clock } = services;
  return defineTool({
    name: "send_message",
    description:
      "Sends a typed message, a JSON envelope, to a channel, for programs and agents to " +
      'act on. Give "type" and "payload", or "text" in their place for plain words. "to" puts the ' +
      "message into the inboxes of those agents of the channel; without it, it is for anyone who " +
      'reads the channel. To wait for answers, call read_inbox with "wait_seconds".',
    resource: "coordination",
    input: {
      channel,
      type: z.string().regex(/^[^\s\p{Cc}]{1,100}$/u, {
        error: "must be 1 to 100 characters without space or control character",
      }).max(100).meta({ pattern: "^[^\\x00-\\x20\\x7f-\\xa0]+$" }).optional()
        .describe('Type of the message, such as task.create; required unless "text" is given'),
      payload: z.looseObject({}).meta({ additionalProperties: true }).optional().describe(
        "The content of the message",
      ),
      to: z.array(addressee).min(1).max(MAX_ADDRESSEES).optional().describe(
        'Whom it is for: nicks, "@all", types such as "@workers", or "@build*" for all nicks ' +
          "that begin so",
      ),
      text: text.optional().describe('Plain words in place of "type" and "payload"'),
    },
    output: z.object({
      channel: z.string(),
      envelope_id: z.string().optional()
        .describe('Give it as "since" to get_history to read what came after the message'),
      not_reached: z.array(z.string()).optional()
        .describe('Agents in "to" that are not in the channel and did not get the message'),
    }),
    readOnly: false,
    isNewWork: true,
    advice: SENDING_ADVICE,
    async run({ channel, type, payload, to, text }, { caller }) {
      const open = running(bridge);
      const name = readChannelName(channel);
      if (type === undefined && text === undefined) {
        throw new Invalid('"type" is required, or "text" for plain words');
      }
      if (text !== undefined && (type !== undefined || payload !== undefined)) {
        throw new Invalid('"text" cannot be given together with "type" or "payload"');
      }
      if (to !== undefined) await assertAddressees(services, { channel: name, to }, caller);
      const from = speakerName(caller.principal, null) ?? open.nick;
      const message = type === undefined
        ? addressed(text ?? "", to)
        : formatEnvelope({ type, from, to, payload }, clock());
      await open.post(name, { text: message }, caller);
      const id = type === undefined ? undefined : parseEnvelope(message)?.id;
      const missed = named(to).filter((nick) => services.inboxes.reaches(nick, name) === false);
      return sentTo(name, { id, missed });
    },
  });
}

/** The result of `send_message`. */
function sentTo(
  channel: string,
  { id, missed }: { readonly id: string | undefined; readonly missed: readonly string[] },
): ToolOutput {
  const text = `message sent to ${channel}`;
  const data = { channel, ...(id === undefined ? {} : { envelope_id: id }) };
  if (missed.length === 0) return { text, data };
  const list = new Intl.ListFormat("en").format(missed.map((nick) => `"${nick}"`));
  return {
    text,
    data: { ...data, not_reached: missed },
    more: `${list} did not get it in the inbox, not being in ${channel}: use send_direct, or ask ` +
      "the operator",
  };
}

/** `send_direct` */
export function sendDirect({ directMessages }: CoordinationServices): Tool {
  return defineTool({
    name: "send_direct",
    description: "Says something to one agent or person alone. Use it to answer a message that " +
      "read_inbox shows as said to you alone. An agent finds it in its inbox, also later; a person " +
      "must be on IRC now. Everything else belongs in a channel, where others can follow it.",
    resource: "coordination",
    input: {
      to: z.string().describe("Nick of the agent or person"),
      text,
      client_id: clientIdSchema.optional()
        .describe("Your own id of the message: if you send it again, it is not sent twice"),
    },
    output: z.object({
      to: z.string(),
      sent: z.literal(true),
      message_id: z.string().optional()
        .describe("Give it to get_message_state to ask what became of the message"),
    }),
    readOnly: false,
    isNewWork: true,
    advice: {
      notFound: "Use the nick that read_inbox, get_history or list_channels shows",
      conflict: "Leave word in a channel with the tool post, or try again later",
      timedOut: "It may have been sent all the same, so do not repeat it at once",
    },
    async run({ to, text, client_id: clientId }, { caller }) {
      if (to.startsWith("#")) throw new Invalid(`"${to}" is a channel: use the tool post`);
      const id = await directMessages.send(to, { text, clientId }, caller);
      const data = { to, sent: true, ...(id === null ? {} : { message_id: id }) };
      return { text: `message sent to ${to}`, data };
    },
  });
}

/** `post` */
export function post({ bridge }: CoordinationServices): Tool {
  return defineTool({
    name: "post",
    description:
      "Says something in plain words in a channel, for people and agents alike. Name an " +
      "agent in the text, and the message is in its inbox too. Use send_message for typed " +
      "messages that programs act on, and send_direct for what is for one reader alone.",
    resource: "coordination",
    input: { channel, text },
    output: z.object({ channel: z.string(), posted: z.literal(true) }),
    readOnly: false,
    isNewWork: true,
    advice: SENDING_ADVICE,
    async run({ channel, text }, { caller }) {
      const name = readChannelName(channel);
      await running(bridge).post(name, { text }, caller);
      return { text: `posted to ${name}`, data: { channel: name, posted: true } };
    },
  });
}

const BLANK = /^[ \t\r]*$/;

/** Puts the addressees in front of every line, because each line becomes a message of its own. */
function addressed(text: string, to: readonly string[] | undefined): string {
  if (to === undefined) return text;
  const prefix = `${to.join(", ")}: `;
  return text.split("\n").map((line) => BLANK.test(line) ? line : `${prefix}${line}`).join("\n");
}

const GROUPS = new Set(["@all", ...AGENT_TYPES.flatMap((type) => [`@${type}`, `@${type}s`])]);

/** The nicks among addressees, without names of groups. */
function named(to: readonly string[] | undefined): string[] {
  return (to ?? []).filter((name) => !name.endsWith("*") && !GROUPS.has(name.toLowerCase()))
    .map((name) => name.replace(/^@/, ""))
    .filter((nick, index, nicks) => nicks.indexOf(nick) === index);
}

/**
 * Checks that the addressees exist, so that a message to a misspelt one is not silently lost.
 *
 * @throws Invalid
 */
async function assertAddressees(
  { bridge, inboxes }: CoordinationServices,
  { channel, to }: { readonly channel: string; readonly to: readonly string[] },
  caller: Caller,
): Promise<void> {
  const strangers = named(to).filter((nick) => inboxes.reaches(nick, channel) === null);
  if (strangers.length === 0) return;
  const users = await running(bridge).users(channel, caller).catch((error: unknown) => {
    if (error instanceof NotFound) return [];
    throw error;
  });
  const present = new Set(users.map(foldCase));
  const missing = strangers.find((nick) => !present.has(foldCase(nick)));
  if (missing === undefined) return;
  throw new Invalid(
    `"to" names "${missing}", but there is no such agent, and nobody of that nick is in ` +
      `${channel}. Nothing was sent`,
  );
}
