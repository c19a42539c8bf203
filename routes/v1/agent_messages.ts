import { z } from "../extended_zod.ts";
import { Waits } from "../../http/mod.ts";
import {
  acknowledgementOf,
  type Addressed,
  ADDRESSED_KINDS,
  type DirectMessages,
  ENTRY_STATES,
  INBOX_CAPACITY,
  type InboxDoor,
  type MessageFate,
} from "../../services/inboxes/mod.ts";
import { clientIdSchema } from "../../services/inboxes/schemas.ts";
import type { Identity } from "../../services/identity/mod.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { hold } from "../held_answers.ts";
import { route } from "../route.ts";
import {
  errors,
  json,
  jsonRequest,
  nickSchema,
  sinceSchema,
  spokenTextSchema,
  waitSchema,
  wholeNumber,
} from "../schemas.ts";

export interface AgentMessageRoutesOptions {
  readonly inboxes: InboxDoor;
  readonly directMessages: DirectMessages;
  readonly identity: Pick<Identity, "onEnded">;
}

const STATES =
  "queued: no connection of the agent has had it; delivered: an IRC connection of the " +
  "agent has had it; read: the agent read it in its inbox; acknowledged: the agent is done with it; " +
  "bounced: it went back to its sender; dropped: it made room for another";

const stateSchema = z.enum(ENTRY_STATES).openapi({ description: STATES });

/** A time, or null. */
const timeSchema = z.string().nullable();

const messageSchema = z.object({
  id: z.string(),
  kind: z.enum(ADDRESSED_KINDS).openapi({
    description: "message: a private message; mention: names it in a channel or a comment of " +
      "a project; claim: one that ran out, was taken or was ended by somebody else; review: a " +
      "verdict, a comment or a new round; check: CI is done with the tip of its workspace; " +
      "landing: a merge of its work, or its return from the queue; overlap: its workspace begins " +
      "to conflict with another; answer: somebody changed a ticket that it holds, or commented " +
      "on one that it spoke in; question: a question of its own has ended; bounce: its own message " +
      "came back; halt: it is halted, or may go on",
  }),
  state: stateSchema,
  from: z.string().openapi({ description: "The nick of the speaker, or who caused it" }),
  account: z.string().nullable().openapi({
    description: "The speaker's authenticated account, or null",
  }),
  via: z.literal("bridge").optional().openapi({
    description: "Present if the operator said it under a name",
  }),
  channel: z.string().nullable().openapi({
    description: "The channel; null for a private message",
  }),
  text: z.string(),
  at: z.string().openapi({ description: "The same as `timestamp`" }),
  project: z.string().optional().openapi({ description: "The project that it is about" }),
  ticket: z.string().optional(),
  review: z.int().optional(),
  checkin: z.string().optional(),
  workspace: z.string().optional(),
  question: z.int().optional(),
  message: z.string().optional().openapi({ description: "The message that came back" }),
  timestamp: z.string().openapi({
    description: "ISO 8601, UTC, microseconds; strictly increasing for an agent",
    example: "2026-11-20T23:18:00.123456Z",
  }),
}).openapi("AddressedMessage");

const listMessages = route("GET /v1/agents/{nick}/messages", {
  summary:
    "An agent's inbox: private messages, mentions, and what happens to its work; oldest first",
  description: "Open to the agent itself and the operator. Reading removes nothing: every read " +
    "returns an entry until it is acknowledged. `state` is its state before this read. A channel's " +
    "message counts if the agent was registered with the channel or is in it, and if the " +
    "text contains its nick as a word, @all, its type (@worker, @workers), or @prefix*. " +
    "An envelope counts if its `to` lists one of these. The newest messages are kept, also over " +
    "restarts, as long as `irc.history` says.",
  request: {
    params: z.object({ nick: z.string() }),
    query: z.object({
      since: sinceSchema,
      limit: wholeNumber("Most messages; all by default", 1, INBOX_CAPACITY),
      wait_seconds: waitSchema,
    }),
  },
  responses: {
    200: json(z.array(messageSchema), "The newest, or the first ones after `since`"),
    ...errors(400, 404, 429, 503),
  },
});

const sendMessage = route("POST /v1/agents/{nick}/messages", {
  summary: "Send a private message to an agent or a person",
  description: "The nick may be an agent's or that of anybody on IRC: to answer a message, use " +
    "its `from`. An agent gets it in its inbox, even while it is away or paused. A person gets " +
    "it on IRC, or later if an agent wrote it. An agent speaks under its own nick; for others the bridge speaks, with their name " +
    "in front. 404 if nobody has the nick; 409 if its owner cannot receive messages now: the bridge, " +
    "a service such as NickServ, for the operator a person who is not on IRC.",
  request: {
    params: z.object({ nick: z.string() }),
    body: jsonRequest(
      z.object({
        nick: nickSchema.optional().openapi({
          description: "The speaker's name; by default, the caller's own, or the bridge's",
        }),
        text: spokenTextSchema,
        client_id: clientIdSchema.optional().openapi({
          description: "Your own id of this message: however often you send it, it is sent once",
        }),
      }).openapi("DirectMessageRequest"),
      { text: "The build is green again.", client_id: "build-1207" },
    ),
  },
  responses: {
    204: {
      description: "It is on disk in the agent's inbox, or IRC has it",
      headers: z.object({
        Location: z.string().optional().openapi({
          description: "Where to ask what became of the message, if it went to an agent",
          example: "/v1/messages/01KAM2T9V6CZ3Y4QW8X5R7J1NE",
        }),
      }),
    },
    ...errors(400, 404, 409, 413, 429, 503, 504),
  },
});

const acknowledgeMessages = route("POST /v1/agents/{nick}/messages/acknowledge", {
  summary: "Remove entries from an inbox that its agent is done with",
  description:
    "Open to the agent itself and the operator. Once this is answered, no read returns " +
    "these entries, not even after a crash. To acknowledge an entry twice does no harm.",
  request: {
    params: z.object({ nick: z.string() }),
    body: jsonRequest(
      z.strictObject({
        ids: z.array(z.string().min(1).max(200)).min(1).max(INBOX_CAPACITY).optional(),
        up_to: z.string().min(1).max(200).optional().openapi({
          description: "The id or timestamp of an entry: this entry and all before it",
        }),
      }).openapi("Acknowledgement"),
      { ids: ["01KAM2T9V6CZ3Y4QW8X5R7J1NE"] },
    ),
  },
  responses: {
    200: json(
      z.object({
        acknowledged: z.int().openapi({ description: "How many entries were removed" }),
        unknown: z.array(z.string()).openapi({
          description: "Ids of `ids` that are not and were not lately in the inbox",
        }),
        left: z.int().openapi({ description: "How many entries are left" }),
      }).openapi("Acknowledged"),
      "The entries are removed",
    ),
    ...errors(400, 404, 503),
  },
});

const count = z.int();

const summarize = route("GET /v1/agents/{nick}/summary", {
  summary: "How many entries an agent's inbox holds, by state and kind",
  description: "Open to the agent itself and the operator. It costs nothing, because the server " +
    "counts in memory, and it changes no state.",
  request: { params: z.object({ nick: z.string() }) },
  responses: {
    200: json(
      z.object({
        nick: z.string(),
        total: count,
        queued: count,
        delivered: count,
        read: count,
        kinds: z.record(z.string(), count).openapi({ example: { message: 2, mention: 1 } }),
        oldest: timeSchema.openapi({ description: "When the oldest entry came" }),
      }).openapi("InboxSummary"),
      "The counts",
    ),
    ...errors(404, 503),
  },
});

const getMessage = route("GET /v1/messages/{id}", {
  summary: "What became of a message to agents",
  description:
    "Open to its sender, its receivers, the operator and admins. A receiver sees itself " +
    "alone. A message in a channel has a receiver for each agent that it mentions. The server " +
    "remembers the last 1,000 messages that left each inbox. The answer never holds the text.",
  request: { params: z.object({ id: z.string().max(200) }) },
  responses: {
    200: json(
      z.object({
        id: z.string(),
        client_id: z.string().nullable().openapi({ description: "The id that its sender gave it" }),
        timestamp: z.string(),
        receivers: z.array(z.object({
          nick: z.string().nullable().openapi({ description: "Null if the agent is gone" }),
          state: stateSchema,
          state_at: timeSchema.openapi({ description: "When it got this state" }),
          expires_at: timeSchema.openapi({
            description: "When it comes back to its sender unless the agent has had it by then",
          }),
        })),
      }).openapi("MessageFate"),
      "Its state in each inbox",
    ),
    ...errors(400, 404, 503),
  },
});

/** `/v1/agents/{nick}/messages` */
export function agentMessageRoutes(
  { inboxes, directMessages, identity }: AgentMessageRoutesOptions,
) {
  const waits = new Waits();
  identity.onEnded((ended) => waits.abortEnded(ended));

  return newRoutes().openapi(listMessages, (context) => {
    const { nick } = context.req.valid("param");
    const { since, limit, wait_seconds: waitSeconds = 0 } = context.req.valid("query");
    const principal = context.get("principal");
    const peeks = context.req.method === "HEAD";
    const views = waits.run(
      principal,
      context.req.raw.signal,
      (end) => inboxes.read(nick, { since, limit, waitSeconds, end, peeks }, principal),
    ).then((messages) => messages.map(viewOf));
    return hold(context, views);
  }).openapi(sendMessage, async (context) => {
    const { nick } = context.req.valid("param");
    const { client_id: clientId, ...post } = context.req.valid("json");
    const id = await directMessages.send(nick, { ...post, clientId }, callerOf(context));
    if (id !== null) context.header("Location", `/v1/messages/${encodeURIComponent(id)}`);
    return context.body(null, 204);
  }).openapi(acknowledgeMessages, async (context) => {
    const { nick } = context.req.valid("param");
    const { ids, up_to: upTo } = context.req.valid("json");
    const what = acknowledgementOf(ids, upTo);
    const { unknown, ...counts } = await inboxes.acknowledge(nick, what, context.get("principal"));
    return context.json({ ...counts, unknown: [...unknown] }, 200);
  }).openapi(summarize, async (context) => {
    const { nick } = context.req.valid("param");
    return context.json(await inboxes.counts(nick, context.get("principal")), 200);
  }).openapi(getMessage, async (context) => {
    const { id } = context.req.valid("param");
    return context.json(fateView(await directMessages.fate(id, callerOf(context))), 200);
  });
}

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

function viewOf(message: Addressed) {
  return { ...message, at: message.timestamp };
}
