import { createRoute, z } from "@hono/zod-openapi";
import { Waits } from "../http/mod.ts";
import { INBOX_CAPACITY, type Inboxes } from "../services/attendance/mod.ts";
import type { Identity } from "../services/identity/mod.ts";
import { openTo } from "./access.ts";
import { newRoutes } from "./context.ts";
import { errors, json, sinceSchema, wholeNumber } from "./schemas.ts";

export interface AgentMessageRoutesOptions {
  readonly inboxes: Inboxes;
  readonly identity: Pick<Identity, "onEnded">;
}

const messageSchema = z.object({
  id: z.string(),
  from: z.string().openapi({ description: "The nick of who said it" }),
  channel: z.string().nullable().openapi({
    description: "Where it was said; null where it was said to the agent alone",
  }),
  text: z.string(),
  timestamp: z.string().openapi({
    description: "ISO 8601, UTC, microseconds; strictly increasing for an agent",
    example: "2026-11-20T23:18:00.123456Z",
  }),
}).openapi("AddressedMessage");

const listMessages = createRoute({
  method: "get",
  path: "/v1/agents/{nick}/messages",
  summary: "What was said to an agent alone, and what mentions it in channels, oldest first",
  description: "Open to the agent itself and the operator. Reading consumes nothing. A channel's " +
    "message counts where the agent was registered with the channel or is in it, and where the " +
    "text holds its nick as a word of its own, @all, its type (@worker, @workers), or @prefix*; " +
    "an envelope where its `to` lists one of these. The newest messages are kept, in memory.",
  ...openTo("agent:read"),
  request: {
    params: z.object({ nick: z.string() }),
    query: z.object({
      since: sinceSchema,
      limit: wholeNumber(`How many; at most ${INBOX_CAPACITY}, which is the default`),
      wait_seconds: wholeNumber("How long to wait where there is nothing yet; at most 60"),
    }),
  },
  responses: {
    200: json(z.array(messageSchema), "The newest, or the first ones after `since`"),
    ...errors(400, 404, 429, 503),
  },
});

/** `/v1/agents/{nick}/messages` */
export function agentMessageRoutes({ inboxes, identity }: AgentMessageRoutesOptions) {
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
    return context.json(messages, 200);
  });
}
