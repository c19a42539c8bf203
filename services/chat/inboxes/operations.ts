import { z } from "zod";
import { Conflict, NotFound, TimedOut, TooMany, Unavailable } from "../../kernel/errors.ts";
import { serverOperation, WithHeaders } from "../../people/identity/server_operation.ts";
import { clientIdSchema, nickSchema, sinceSchema, spokenTextSchema } from "../messages/schemas.ts";
import { SESSION_NAME_HEADER } from "../../kernel/session_header.ts";
import { waitSchema, wholeNumber } from "../../kernel/validation/schemas.ts";
import {
  acknowledgementOf,
  type Addressed,
  ADDRESSED_KINDS,
  type DirectMessages,
  ENTRY_STATES,
  INBOX_CAPACITY,
  type InboxDoor,
  type MessageFate,
} from "./mod.ts";

/** What the operations on messages to agents call. */
interface MessageServices {
  readonly inboxes: Pick<InboxDoor, "read" | "seen" | "acknowledge">;
  readonly directMessages: Pick<DirectMessages, "send" | "fate" | "placeOfAnswer">;
}

const STATES =
  "queued: no connection of the agent has had it; delivered: an IRC connection of the " +
  "agent has had it; read: the agent read it in its inbox; acknowledged: the agent is done with it; " +
  "bounced: it went back to its sender; dropped: it made room for another";

const stateSchema = z.enum(ENTRY_STATES).meta({ description: STATES });

/** Most characters of ids in a query. */
const MAX_IDS = 8000;

/** A time, or null. */
const timeSchema = z.string().nullable();

const messageSchema = z.object({
  id: z.string(),
  kind: z.enum(ADDRESSED_KINDS).meta({
    description: "message: a private message; mention: names it in a channel or a comment of " +
      "a project; claim: one that ran out, was taken or was ended by somebody else; review: a " +
      "verdict, a comment or a new round; check: CI is done with the tip of its workspace; " +
      "landing: a merge of its work, or its return from the queue; overlap: its workspace begins " +
      "to conflict with another; answer: somebody changed a ticket that it holds, or commented " +
      "on one that it spoke in; ticket: it is assigned a ticket, or one of its tickets is no longer " +
      "blocked; question: a question of its own has ended; bounce: its own message " +
      "came back; halt: it is halted, or may go on",
  }),
  state: stateSchema,
  from: z.string().meta({ description: "The nick of the speaker, or who caused it" }),
  account: z.string().nullable().meta({
    description: "The speaker's authenticated account, or null",
  }),
  via: z.literal("bridge").optional().meta({
    description: "Present if the operator said it under a name",
  }),
  channel: z.string().nullable().meta({
    description: "The channel; null for a private message",
  }),
  text: z.string(),
  at: z.string().meta({ description: "The same as `timestamp`" }),
  project: z.string().optional().meta({ description: "The project that it is about" }),
  ticket: z.string().optional(),
  review: z.int().optional(),
  checkin: z.string().optional(),
  workspace: z.string().optional(),
  question: z.int().optional(),
  message: z.string().optional().meta({ description: "The message that came back" }),
  reply_to: z.string().optional().meta({
    description: "Where an answer goes: the nick of the speaker, or the channel. Absent where " +
      "nobody would get one: what muster reports, and what a name said that has no receiver",
  }),
  timestamp: z.string().meta({
    description: "ISO 8601, UTC, microseconds; strictly increasing for an agent",
    example: "2026-11-20T23:18:00.123456Z",
  }),
}).meta({ id: "AddressedMessage" });

/** An entry of an inbox. */
export type EntryView = z.output<typeof messageSchema>;

const byNick = z.object({ nick: z.string() });
const unknown = { error: NotFound };
const isAway = { error: Unavailable };

export const readInbox = serverOperation({
  http: "GET /v1/agents/{nick}/messages",
  on: "coordination",
  runsOn: "leader",
  waits: "if asked",
  summary:
    "An agent's inbox: private messages, mentions, and what happens to its work; oldest first",
  description: "Open to the agent itself and the operator. Reading removes nothing: every read " +
    "returns an entry until it is acknowledged. `state` is its state before this read. A channel's " +
    "message counts if the agent was registered with the channel or is in it, and if the " +
    "text contains its nick as a word, @all, its type (@worker, @workers), or @prefix*. " +
    "An envelope counts if its `to` lists one of these. With `unread`, a reader that waits again " +
    "and again gets each entry once, also if others read for the agent. The newest messages are kept, also over " +
    "restarts, as long as `irc.history` says.",
  input: byNick.extend({
    since: sinceSchema,
    limit: wholeNumber("Most messages; all by default", 1, INBOX_CAPACITY),
    wait_seconds: waitSchema,
    unread: z.enum(["true", "false"]).optional().meta({
      description: "With `true` only what the agent has not read, the oldest first. It stays " +
        "unread: read what you use by its id",
    }),
    ids: z.string().min(1).max(MAX_IDS).optional().meta({
      description: "Ids with commas between them: reads these entries, and returns those that " +
        "were not read before. Of two readers that ask for the same entry, one gets it",
    }),
  }),
  ok: {
    schema: z.array(messageSchema),
    description: "The newest, or the first ones after `since`",
    headers: z.object({
      [SESSION_NAME_HEADER]: z.string().optional().meta({
        description: "The name of the caller's session, if that is not the agent's",
        example: "scout-2",
      }),
    }),
  },
  refusals: [unknown, { error: TooMany }, isAway],
}, async (services: MessageServices, asked, { caller: { principal }, end, isPeek = false }) => {
  const { inboxes, directMessages } = services;
  const { nick, since, limit, wait_seconds: waitSeconds = 0, ids } = asked;
  const unread = ids !== undefined || asked.unread === "true";
  const query = { since, limit, waitSeconds, end, unread, peeks: isPeek || unread };
  const found = await inboxes.read(
    nick,
    ids === undefined ? query : { unread, peeks: true },
    principal,
  );
  const news = ids === undefined ? null : await inboxes.seen(nick, ids.split(","), principal);
  const shown = found.filter(({ id }) => news?.includes(id) !== false)
    .map((message) => viewOf(message, directMessages.placeOfAnswer(nick, message)));
  const { agentSession, name } = principal;
  return agentSession === undefined
    ? shown
    : new WithHeaders(shown, { [SESSION_NAME_HEADER]: name });
});

/** What a reader has seen of what it peeked at. An answer may have had no room for all of it. */
export const noteRead = serverOperation({
  on: "coordination",
  runsOn: "leader",
  summary: "Note that a reader has seen entries of an inbox: they are read if it is their agent",
  input: byNick.extend({ ids: z.array(z.string()).max(INBOX_CAPACITY) }),
  ok: {
    schema: z.array(z.string()),
    description: "The ids of those that were not read before; all, if it is another's inbox",
  },
  refusals: [unknown, isAway],
}, (
  { inboxes }: { readonly inboxes: Pick<InboxDoor, "seen"> },
  { nick, ids },
  { caller: { principal } },
) => inboxes.seen(nick, ids, principal));

export const sendToAgent = serverOperation({
  http: "POST /v1/agents/{nick}/messages",
  on: "coordination",
  runsOn: "leader",
  summary: "Send a private message to an agent or a person",
  description: "The nick may be an agent's or that of anybody on IRC: to answer a message, use " +
    "its `from`. An agent gets it in its inbox, even while it is away or paused. A person gets " +
    "it on IRC, or later if an agent wrote it. An agent speaks under its own nick; for others the " +
    "bridge speaks, with their name in front. 404 if nobody has the nick; 409 if its owner cannot " +
    "receive messages now: the bridge, a service such as NickServ, for the operator a person who is " +
    "not on IRC.",
  input: byNick.extend({
    message: z.object({
      nick: nickSchema.optional().meta({
        description: "The speaker's name; by default, the caller's own, or the bridge's",
      }),
      text: spokenTextSchema,
      client_id: clientIdSchema.optional().meta({
        description: "Your own id of this message: however often you send it, it is sent once",
      }),
    }).meta({ id: "DirectMessageRequest" }),
  }),
  bodyField: "message",
  example: { text: "The build is green again.", client_id: "build-1207" },
  done: {
    description: "It is on disk in the agent's inbox, or IRC has it",
    headers: z.object({
      Location: z.string().optional().meta({
        description: "Where to ask what became of the message, if it went to an agent",
        example: "/v1/messages/01KAM2T9V6CZ3Y4QW8X5R7J1NE",
      }),
    }),
  },
  refusals: [unknown, { error: Conflict }, { error: TooMany }, isAway, { error: TimedOut }],
}, async ({ directMessages }: MessageServices, { nick, message }, { caller }) => {
  const { client_id: clientId, ...post } = message;
  const id = await directMessages.send(nick, { ...post, clientId }, caller);
  if (id === null) return;
  return new WithHeaders<void>(undefined, { Location: `/v1/messages/${encodeURIComponent(id)}` });
});

export const acknowledgeMessages = serverOperation(
  {
    http: "POST /v1/agents/{nick}/messages/acknowledge",
    on: "coordination",
    runsOn: "leader",
    whileFull: true,
    summary: "Remove entries from an inbox that its agent is done with",
    description:
      "Open to the agent itself and the operator. Once this is answered, no read returns " +
      "these entries, not even after a crash. To acknowledge an entry twice does no harm.",
    input: z.strictObject({
      nick: z.string(),
      ids: z.array(z.string().min(1).max(200)).min(1).max(INBOX_CAPACITY).optional(),
      up_to: z.string().min(1).max(200).optional().meta({
        description: "The id or timestamp of an entry: this entry and all before it",
      }),
    }),
    bodyName: "Acknowledgement",
    example: { ids: ["01KAM2T9V6CZ3Y4QW8X5R7J1NE"] },
    ok: {
      schema: z.object({
        acknowledged: z.int().meta({ description: "How many entries were removed" }),
        unknown: z.array(z.string()).readonly().meta({
          description: "Ids of `ids` that are not and were not lately in the inbox",
        }),
        left: z.int().meta({ description: "How many entries are left" }),
      }).meta({ id: "Acknowledged" }),
      description: "The entries are removed",
    },
    refusals: [unknown, isAway],
  },
  ({ inboxes }: MessageServices, { nick, ids, up_to: upTo }, { caller }) =>
    inboxes.acknowledge(nick, acknowledgementOf(ids, upTo), caller.principal),
);

const count = z.int();

export const summarizeInbox = serverOperation({
  http: "GET /v1/agents/{nick}/summary",
  on: "coordination",
  runsOn: "leader",
  summary: "How many entries an agent's inbox holds, by state and kind",
  description: "Open to the agent itself and the operator. It costs nothing, because the server " +
    "counts in memory, and it changes no state.",
  input: byNick,
  ok: {
    schema: z.object({
      nick: z.string(),
      total: count,
      queued: count,
      delivered: count,
      read: count,
      kinds: z.record(z.string(), count).meta({ example: { message: 2, mention: 1 } }),
      oldest: timeSchema.meta({ description: "When the oldest entry came" }),
    }).meta({ id: "InboxSummary" }),
    description: "The counts",
  },
  refusals: [unknown, isAway],
}, (
  { inboxes }: { readonly inboxes: Pick<InboxDoor, "counts"> },
  { nick },
  { caller: { principal } },
) => inboxes.counts(nick, principal));

export const getMessageFate = serverOperation(
  {
    http: "GET /v1/messages/{id}",
    on: "coordination",
    runsOn: "leader",
    summary: "What became of a message to agents",
    description:
      "Open to its sender, its receivers, the operator and admins. A receiver sees itself " +
      "alone. A message in a channel has a receiver for each agent that it mentions. The server " +
      "remembers the last 1,000 messages that left each inbox. The answer never holds the text.",
    input: z.object({ id: z.string().max(200) }),
    ok: {
      schema: z.object({
        id: z.string(),
        client_id: z.string().nullable().meta({ description: "The id that its sender gave it" }),
        timestamp: z.string(),
        receivers: z.array(z.object({
          nick: z.string().nullable().meta({ description: "Null if the agent is gone" }),
          state: stateSchema,
          state_at: timeSchema.meta({ description: "When it got this state" }),
          expires_at: timeSchema.meta({
            description: "When it comes back to its sender unless the agent has had it by then",
          }),
        })),
      }).meta({ id: "MessageFate" }),
      description: "Its state in each inbox",
    },
    refusals: [unknown, isAway],
  },
  async ({ directMessages }: MessageServices, { id }, { caller }) =>
    fateView(await directMessages.fate(id, caller)),
);

function fateView({ clientId, receivers, ...fate }: MessageFate) {
  const iso = (time: number | null) => time === null ? null : new Date(time).toISOString();
  return {
    ...fate,
    client_id: clientId,
    receivers: receivers.map(({ nick, state, stateAt, expiresAt }) => (
      { nick, state, state_at: iso(stateAt), expires_at: iso(expiresAt) }
    )),
  };
}

function viewOf(message: Addressed, place: string | null) {
  return { ...message, at: message.timestamp, ...(place === null ? {} : { reply_to: place }) };
}
