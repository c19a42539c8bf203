import { z } from "zod";
import { Waits } from "../http/mod.ts";
import { type Agents, registrationSchema } from "../services/agents/mod.ts";
import {
  type Bridge,
  type ChannelMessage,
  type Envelope,
  formatEnvelope,
  parseEnvelope,
  readChannelName,
} from "../services/bridge/mod.ts";
import { Unavailable } from "../services/errors.ts";
import { authorize, type Caller, type Identity, speakerName } from "../services/identity/mod.ts";
import type { Status } from "../services/status.ts";
import { defineTool, type Tool } from "./tool.ts";

/** What the tools of the coordination service act on. */
export interface CoordinationServices {
  readonly status: Pick<Status, "read">;
  readonly identity: Pick<Identity, "onEnded">;
  readonly agents: Pick<Agents, "register" | "counts">;
  /** Null where the configuration turns the bridge off. */
  readonly bridge: Pick<Bridge, "nick" | "whenReady" | "summaries" | "messages" | "post"> | null;
  /** How many messages of a channel are kept. */
  readonly bufferSize: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** How many messages `get_history` gives where the call does not say. */
const DEFAULT_LIMIT = 20;
/** How long a call may wait for news, in seconds. */
const MAX_WAIT_SECONDS = 60;

const channel = z.string().describe("Name of the channel, such as #general");

/** The five tools of the coordination service, in the contract's order. */
export function coordinationTools(services: CoordinationServices): readonly Tool[] {
  return [
    getStatus(services),
    listChannels(services),
    registerAgent(services),
    sendMessage(services),
    getHistory(services),
  ];
}

function getStatus({ status, agents }: CoordinationServices): Tool {
  return defineTool({
    name: "get_status",
    description: "Tells how the service is and how many agents are registered.",
    input: z.object({}),
    readOnly: true,
    run() {
      const { active, total } = agents.counts();
      return { text: `status: ${status.read().status}\nagents: ${active} active, ${total} total` };
    },
  });
}

function listChannels({ bridge }: CoordinationServices): Tool {
  return defineTool({
    name: "list_channels",
    description: "Lists the channels with their members' number and their topics.",
    input: z.object({}),
    readOnly: true,
    async run(_input, { caller }) {
      const open = running(bridge);
      await open.whenReady();
      const lines = open.summaries(caller).map(({ name, members, topic }) =>
        `${name} (${members} members)${topic === "" ? "" : ` — ${topic}`}`
      );
      return { text: lines.length === 0 ? "no channels" : lines.join("\n") };
    },
  });
}

function registerAgent({ agents }: CoordinationServices): Tool {
  const { nick, type, channels } = registrationSchema.shape;
  return defineTool({
    name: "register_agent",
    description: "Registers a new agent and returns its password, which is shown this once only.",
    input: z.object({
      nick: nick.describe("Name of the agent, unique, also its IRC nick"),
      type: type.describe("What the agent is for"),
      channels: channels.describe("Channels that it works in, such as #general"),
    }),
    readOnly: false,
    async run(request, { caller }) {
      authorize(caller.principal, "operator");
      const { credentials } = await agents.register(request, caller);
      const { nick, passphrase } = credentials;
      return { text: `Agent registered: ${nick}\nnick: ${nick}\npassword: ${passphrase}` };
    },
  });
}

function sendMessage({ bridge, clock }: CoordinationServices): Tool {
  return defineTool({
    name: "send_message",
    description: "Sends a typed message, a JSON envelope, to a channel.",
    input: z.object({
      channel,
      type: z.string().regex(/^[^\s\p{Cc}]{1,100}$/u, {
        error: "must be 1 to 100 characters without space or control character",
      }).describe("Type of the message, such as task.create"),
      payload: z.looseObject({}).optional().describe("What the message says"),
    }),
    readOnly: false,
    async run({ channel, type, payload }, { caller }) {
      authorize(caller.principal, "agent:write");
      const open = running(bridge);
      const name = readChannelName(channel);
      const from = speakerName(caller.principal, null) ?? open.nick;
      await open.post(name, { text: formatEnvelope({ type, from, payload }, clock()) }, caller);
      return { text: `message sent to ${name}` };
    },
  });
}

function getHistory({ bridge, bufferSize, identity }: CoordinationServices): Tool {
  const waits = new Waits();
  identity.onEnded((ended) => waits.abortEnded(ended));
  return defineTool({
    name: "get_history",
    description: "Reads messages of a channel, the newest or older ones; can wait for the next.",
    input: z.object({
      channel,
      limit: z.int().min(1).max(bufferSize).default(Math.min(DEFAULT_LIMIT, bufferSize))
        .describe("How many messages at most"),
      since: z.string().optional()
        .describe("Only what came after this: the timestamp or the id of a message"),
      before: z.string().optional()
        .describe("Only what came before this: the timestamp or the id of a message"),
      wait_seconds: z.int().min(0).max(MAX_WAIT_SECONDS).default(0)
        .describe("Seconds to wait for a message where there is none yet"),
    }),
    readOnly: true,
    async run({ channel, limit, since, before, wait_seconds: waitSeconds }, context) {
      const open = running(bridge);
      const name = readChannelName(channel);
      const idOf = async (reference: string | undefined) =>
        reference &&
        await messageId(open, { channel: name, reference, bufferSize }, context.caller);
      const query = { limit, since: await idOf(since), before: await idOf(before), waitSeconds };
      const messages = waitSeconds === 0
        ? await open.messages(name, query, context.caller)
        : await waits.run(
          context.caller.principal,
          context.signal,
          (signal) => open.messages(name, { ...query, signal }, context.caller),
        );
      const entries = messages.map(readEntry);
      const lines = entries.map((entry) => historyLine(name, entry));
      return {
        text: [`# history: ${name} (last ${entries.length})`, ...lines].join("\n"),
        data: { channel: name, messages: entries },
      };
    },
  });
}

/**
 * The text shows an envelope under its own id, so a reference may be that one too.
 *
 * @returns the id of the message that carried such an envelope, or the reference as it is
 */
async function messageId(
  bridge: Pick<Bridge, "messages">,
  { channel, reference, bufferSize }: {
    readonly channel: string;
    readonly reference: string;
    readonly bufferSize: number;
  },
  caller: Caller,
): Promise<string> {
  const kept = await bridge.messages(channel, { limit: bufferSize }, caller);
  const found = kept.findLast(({ text }) =>
    text.includes(reference) && parseEnvelope(text)?.id === reference
  );
  return found?.id ?? reference;
}

/** A message of a channel, with its envelope where it carries one. */
interface Entry extends ChannelMessage {
  readonly envelope?: Envelope;
}

function readEntry(message: ChannelMessage): Entry {
  const envelope = parseEnvelope(message.text);
  return envelope === null ? message : { ...message, envelope };
}

function historyLine(channel: string, { nick, text, envelope }: Entry): string {
  if (envelope === undefined) return `[${channel}] <${nick}> ${text}`;
  return `[${channel}] <${nick}> type=${envelope.type} id=${envelope.id}`;
}

function running<Part>(bridge: Part | null): Part {
  if (bridge !== null) return bridge;
  throw new Unavailable("The bridge is turned off in the configuration (bridge.enabled)");
}
