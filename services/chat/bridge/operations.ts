import { NO_CHANNELS } from "./types.ts";
import { z } from "zod";
import type { Agents } from "../../people/agents/mod.ts";
import {
  Conflict,
  Invalid,
  NotFound,
  SwitchedOff,
  TimedOut,
  TooLarge,
  TooMany,
  Unavailable,
} from "../../kernel/errors.ts";
import { speakerName } from "../../people/identity/mod.ts";
import {
  SerializedJson,
  serverOperation,
  WithHeaders,
} from "../../people/identity/server_operation.ts";
import { CHANNEL_ARGUMENT_PATTERN } from "../../engines/irc/mod.ts";
import type { Gap } from "../messages/mod.ts";
import { nickSchema, sinceSchema, spokenTextSchema } from "../messages/schemas.ts";
import { newUlid } from "../../kernel/ulid.ts";
import { waitSchema, wholeNumber } from "../../kernel/validation/schemas.ts";
import {
  addressed,
  type AddresseeServices,
  addresseesSchema,
  named,
  requireAddressees,
} from "./addressees.ts";
import { type Bridge, readChannelName } from "./bridge.ts";
import { formatEnvelope } from "./envelope.ts";

/** What the operations on channels call. */
interface ChannelServices<Called extends keyof Bridge> {
  /** Null if the configuration turns the bridge off. */
  readonly bridge: Pick<Bridge, Called> | null;
}

/** @throws SwitchedOff */
function running<Part>({ bridge }: { readonly bridge: Part | null }): Part {
  if (bridge !== null) return bridge;
  throw new SwitchedOff(NO_CHANNELS);
}

const messageSchema = z.object({
  id: z.string(),
  nick: z.string(),
  account: z.string().nullable().meta({
    description: "The authenticated account of the speaker, or null",
  }),
  text: z.string(),
  via: z.literal("bridge").optional().meta({
    description: "Present if the operator said it under another name",
  }),
  reply: z.string().optional().meta({
    description: "The id of the message that it answers; absent if it answers none",
  }),
  timestamp: z.string().meta({
    description: "ISO 8601, UTC, microseconds; strictly increasing within a channel",
    example: "2026-11-20T23:18:00.123456Z",
  }),
}).meta({ id: "ChannelMessage" });

/** A message of a channel. */
export type MessageView = z.output<typeof messageSchema>;

const byChannel = z.object({
  channel: z.string().meta({
    description: "The name, with or without #",
    example: "general",
    pattern: CHANNEL_ARGUMENT_PATTERN,
  }),
});

/** Most messages that a channel can keep. */
const MOST_KEPT = 100_000;

const unknown = { error: NotFound };
const refused = { error: Conflict };
const isBusy = { error: TooMany };
const isAway = { error: Unavailable };
const isLate = { error: TimedOut };

export const listChannels = serverOperation({
  http: "GET /v1/channels",
  on: "coordination",
  summary: "List the bridge's channels",
  input: z.object({}),
  ok: { schema: z.array(z.string()), description: "Names with #, sorted" },
  refusals: [unknown, isAway],
  cli: { at: "channel list", about: "list the channels that the bridge is in", says: "{}" },
}, async (services: ChannelServices<"whenReady" | "channels">, _input, { caller }) => {
  const bridge = running(services);
  await bridge.whenReady();
  return bridge.channels(caller);
});

export const describeChannels = serverOperation({
  on: "coordination",
  summary: "List the bridge's channels with their topics and how many are in them",
  input: z.object({}),
  ok: {
    schema: z.array(z.object({ name: z.string(), members: z.int(), topic: z.string() })),
    description: "By name",
  },
  refusals: [unknown, isAway],
}, async (services: ChannelServices<"whenReady" | "summaries">, _input, { caller }) => {
  const bridge = running(services);
  await bridge.whenReady();
  return bridge.summaries(caller);
});

export const joinChannel = serverOperation(
  {
    http: "POST /v1/channels/{channel}/join",
    on: "coordination",
    whileFull: true,
    summary: "Have the bridge join a channel",
    input: byChannel,
    done: "Joined",
    refusals: [unknown, refused, isBusy, isAway, isLate],
  },
  (services: ChannelServices<"join">, { channel }, { caller }) =>
    running(services).join(channel, caller),
);

export const leaveChannel = serverOperation(
  {
    http: "DELETE /v1/channels/{channel}",
    on: "coordination",
    summary: "Have the bridge leave a channel",
    input: byChannel,
    done: "Left",
    refusals: [unknown, isLate],
  },
  (services: ChannelServices<"part">, { channel }, { caller }) =>
    running(services).part(channel, caller),
);

export const readChannel = serverOperation({
  http: "GET /v1/channels/{channel}/messages",
  on: "coordination",
  waits: "if asked",
  summary: "Read messages of a channel, oldest first",
  input: byChannel.extend({
    since: sinceSchema,
    before: z.string().min(1).optional().meta({
      description: "The timestamp or id of a message: only older ones, the newest of them, as " +
        "far back as the IRC server keeps them. Not together with `since` or `wait_seconds`",
    }),
    limit: wholeNumber(
      "Most messages; by default, all that are kept, which is `bridge.buffer_size`",
      1,
      MOST_KEPT,
    ),
    wait_seconds: waitSchema,
  }),
  ok: {
    schema: z.array(messageSchema),
    description:
      "The newest, the first ones after `since`, or the last before `before`. The header " +
      "`Muster-Gap` tells that messages after `since` may be missing: it has the timestamp " +
      "of the oldest that is there, or `none`",
  },
  refusals: [unknown, refused, isBusy, isAway, isLate],
}, async (services: ChannelServices<"messagesAsJson">, asked, { caller, end }) => {
  const { channel, wait_seconds: waitSeconds = 0, ...range } = asked;
  const gaps: Gap[] = [];
  const onGap = range.since === undefined ? undefined : (gap: Gap) => void gaps.push(gap);
  const query = { ...range, waitSeconds, end, onGap };
  const found = new SerializedJson(await running(services).messagesAsJson(channel, query, caller));
  const [gap] = gaps;
  return gap === undefined ? found : new WithHeaders(found, { "Muster-Gap": gap.to ?? "none" });
});

export const postToChannel = serverOperation(
  {
    http: "POST /v1/channels/{channel}/messages",
    on: "coordination",
    summary: "Post a message to a channel",
    description:
      "It is said as often as it is sent: a `client_id` counts for messages to an agent " +
      "or a person alone.",
    input: byChannel.extend({
      nick: nickSchema.optional().meta({
        description: "The speaker's name; by default, the bridge's",
      }),
      text: spokenTextSchema,
      reply: z.string().min(1).max(200).optional().meta({
        description: "The id of the message that this one answers",
      }),
    }),
    bodyName: "MessageRequest",
    example: { text: "hello, agents" },
    done: "Delivered to IRC",
    refusals: [unknown, refused, { error: TooLarge }, isBusy, isLate],
    cli: {
      at: "send <channel> <text...>",
      about: "post a message to a channel",
      options: {
        nick: { flags: "--nick <nick>", about: "the speaker's name (default: the bridge)" },
        reply: { flags: "--reply <id>" },
      },
      examples: [
        { line: "send '#general' --nick ann 'Good morning'", purpose: "Post under a name" },
        {
          line: "send general -- --help is an option",
          purpose: "Post a text that begins with a dash",
        },
      ],
    },
  },
  (services: ChannelServices<"post">, { channel, ...post }, { caller }) =>
    running(services).post(channel, post, caller),
);

export const sendMessage = serverOperation({
  on: "coordination",
  changes: true,
  summary: "Send a typed message, an envelope, to a channel, or plain words to some in it",
  input: z.object({
    channel: z.string(),
    type: z.string().regex(/^[^\s\p{Cc}]{1,100}$/u, {
      error: "must be 1 to 100 characters without space or control character",
    }).max(100).meta({ pattern: "^[^\\x00-\\x20\\x7f-\\xa0]+$" }).optional(),
    payload: z.looseObject({}).meta({ additionalProperties: true }).optional(),
    to: addresseesSchema.optional(),
    text: z.string().optional(),
  }),
  ok: {
    schema: z.object({
      channel: z.string(),
      envelope_id: z.string().optional(),
      not_reached: z.array(z.string()).optional(),
    }),
    description: "It was said, and which agents it did not reach",
  },
  refusals: [unknown, refused, { error: TooLarge }, isBusy, isLate],
}, async (
  services: ChannelServices<"nick" | "post" | "users"> & AddresseeServices,
  { channel, type, payload, to, text },
  { caller },
) => {
  const bridge = running(services);
  const name = readChannelName(channel);
  if (type === undefined && text === undefined) {
    throw new Invalid('"type" is required, or "text" for plain words');
  }
  if (text !== undefined && (type !== undefined || payload !== undefined)) {
    throw new Invalid('"text" cannot be given together with "type" or "payload"');
  }
  const users = () => bridge.users(name, caller);
  if (to !== undefined) await requireAddressees(services, { channel: name, to, users });
  const from = speakerName(caller.principal, null) ?? bridge.nick;
  const now = Date.now();
  const id = type === undefined ? undefined : newUlid(now);
  const message = id === undefined || type === undefined
    ? addressed(text ?? "", to)
    : formatEnvelope({ id, type, from, to, payload }, now);
  await bridge.post(name, { text: message }, caller);
  const missed = named(to).filter((nick) => services.inboxes.reaches(nick, name) === false);
  return {
    channel: name,
    ...id === undefined ? {} : { envelope_id: id },
    ...missed.length === 0 ? {} : { not_reached: missed },
  };
});

export const announcePresence = serverOperation({
  http: "POST /v1/channels/{channel}/presence",
  on: "coordination",
  whileFull: true,
  summary: "Announce presence in a channel over HTTP",
  input: byChannel.extend({ nick: nickSchema }),
  bodyName: "Presence",
  example: { nick: "ann" },
  done: "Noted",
  refusals: [unknown],
}, async (
  services: ChannelServices<"presence"> & { readonly agents: Pick<Agents, "touchNick"> },
  { channel, nick },
  { caller },
) => {
  await running(services).presence(channel, nick, caller);
  services.agents.touchNick(nick);
});

export const listChannelUsers = serverOperation(
  {
    http: "GET /v1/channels/{channel}/users",
    on: "coordination",
    summary: "List the users in a channel",
    input: byChannel,
    ok: { schema: z.array(z.string()), description: "Nicks, sorted" },
    refusals: [unknown, isAway],
  },
  (services: ChannelServices<"users">, { channel }, { caller }) =>
    running(services).users(channel, caller),
);
