import { z } from "@hono/zod-openapi";
import { Waits } from "../../http/mod.ts";
import {
  type Addressed,
  ADDRESSED_KINDS,
  type DirectMessages,
  INBOX_CAPACITY,
  type Inboxes,
} from "../../services/inboxes/mod.ts";
import type { Identity } from "../../services/identity/mod.ts";
import { callerOf, newRoutes } from "../context.ts";
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
  readonly inboxes: Inboxes;
  readonly directMessages: DirectMessages;
  readonly identity: Pick<Identity, "onEnded">;
}

const messageSchema = z.object({
  id: z.string(),
  kind: z.enum(ADDRESSED_KINDS).openapi({
    description: "message: a private message; mention: names it in a channel or a comment of " +
      "a project; claim: one that ran out, was taken or was ended by somebody else; review: a " +
      "verdict, a comment or a new round; check: CI is done with the tip of its workspace; " +
      "landing: a merge of its work, or its return from the queue; overlap: its workspace begins " +
      "to conflict with another; answer: somebody changed a ticket that it holds, or commented " +
      "on one that it spoke in",
  }),
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
  timestamp: z.string().openapi({
    description: "ISO 8601, UTC, microseconds; strictly increasing for an agent",
    example: "2026-11-20T23:18:00.123456Z",
  }),
}).openapi("AddressedMessage");

const listMessages = route("GET /v1/agents/{nick}/messages", {
  summary:
    "An agent's inbox: private messages, mentions, and what happens to its work; oldest first",
  description: "Open to the agent itself and the operator. Reading removes nothing. A channel's " +
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
    "it on IRC. An agent speaks under its own nick; for others the bridge speaks, with their name " +
    "in front. 404 if nobody has the nick; 409 if its owner cannot receive messages now: a person " +
    "not on IRC, the bridge, a service such as NickServ.",
  request: {
    params: z.object({ nick: z.string() }),
    body: jsonRequest(
      z.object({
        nick: nickSchema.optional().openapi({
          description: "The speaker's name; by default, the caller's own, or the bridge's",
        }),
        text: spokenTextSchema,
      }).openapi("NewDirectMessage"),
      { text: "The build is green again." },
    ),
  },
  responses: {
    204: { description: "Delivered to the inbox or to IRC" },
    ...errors(400, 404, 409, 413, 429, 503, 504),
  },
});

/** `/v1/agents/{nick}/messages` */
export function agentMessageRoutes(
  { inboxes, directMessages, identity }: AgentMessageRoutesOptions,
) {
  const waits = new Waits();
  identity.onEnded((ended) => waits.abortEnded(ended));

  return newRoutes().openapi(listMessages, async (context) => {
    const { nick } = context.req.valid("param");
    const { since, limit, wait_seconds: waitSeconds = 0 } = context.req.valid("query");
    const principal = context.get("principal");
    const messages = await waits.run(
      principal,
      context.req.raw.signal,
      (signal) => inboxes.read(nick, { since, limit, waitSeconds, signal }, principal),
    );
    return context.json(messages.map(viewOf), 200);
  }).openapi(sendMessage, async (context) => {
    const { nick } = context.req.valid("param");
    await directMessages.send(nick, context.req.valid("json"), callerOf(context));
    return context.body(null, 204);
  });
}

function viewOf(message: Addressed) {
  return { ...message, at: message.timestamp };
}
