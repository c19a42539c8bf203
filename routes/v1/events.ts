import { wholeNumber } from "../../services/kernel/validation/schemas.ts";
import { ApiRoutes } from "../api_routes.ts";
import { callerOf } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { wantsEventStream } from "../../http/mod.ts";
import type { EventLog, LoggedEvent } from "../../services/engines/events/mod.ts";
import { EventFrames, type EventStreams, jsonLine, STREAM_HEADERS } from "../event_streams.ts";
import { errors, lastEventId, queryTokenSchema } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";

/** Most events of one answer. */
const MAX_LIMIT = 1000;

/** Most types that one request names. */
const MAX_TYPES = 50;

const SEQUENCE_NUMBER = /^\d{1,15}$/;
const TYPE_PATTERN = "(\\*|[a-z][a-z0-9_]*(\\.[a-z0-9_]+)*(\\.\\*)?)";
const TYPE = new RegExp(`^${TYPE_PATTERN}$`);

export interface EventRoutesOptions {
  readonly eventLog: EventLog;
  readonly streams: EventStreams;
}

const eventSchema = z.object({
  seq: z.int().openapi({ description: "Its number in the log, which serves as the cursor" }),
  time: z.iso.datetime(),
  type: z.string().openapi({ example: "agent.registered" }),
  actor: z.string().openapi({ description: "Who did it", example: "agent:coder-1" }),
  actor_id: z.string().nullable().openapi({ description: "The actor's internal id" }),
  address: z.string().nullable().openapi({ description: "The client's IP address" }),
  cause: z.string().nullable().openapi({ description: "The id of the request that caused it" }),
  data: z.record(z.string(), z.unknown()),
  hash: z.string().openapi({
    description: "SHA-256 of the event and the previous event's hash, in hex",
  }),
}).openapi("Event");

const pageSchema = z.object({
  events: z.array(eventSchema).openapi({ description: "Oldest first" }),
  cursor: z.int().openapi({ description: "The value of `after` for the next events" }),
  more: z.boolean().openapi({ description: "Whether there are events after the cursor" }),
  oldest: z.int().openapi({ description: "Number of the oldest kept event" }),
}).openapi("EventPage");

const query = z.object({
  after: z.string().regex(SEQUENCE_NUMBER, { error: "must be the number of an event" })
    .transform(Number).optional().openapi({
      type: "integer",
      minimum: 0,
      description: "Only events after this number. By default, the newest ones, or, on a " +
        "stream, only new ones",
    }),
  types: z.string().max(5000, { error: "is too long" })
    .transform((text) => text.split(",").map((type) => type.trim()))
    .refine((types) => types.length <= MAX_TYPES && types.every((type) => TYPE.test(type)), {
      error: `must be at most ${MAX_TYPES} types, such as agent.registered or agent.*`,
    }).optional().openapi({
      type: "string",
      pattern: `^${TYPE_PATTERN}(,${TYPE_PATTERN})*$`,
      description:
        "Only events of these types, separated by commas; `agent.*` means all types that " +
        "begin with `agent.`",
    }),
  limit: wholeNumber("Most events; not for a stream", 1, MAX_LIMIT),
});

const listEvents = specialRoute("GET /v1/events", {
  operationId: "listEvents",
  summary: "The event log: every change, its actor and its cause",
  description:
    "With `Accept: text/event-stream`, the answer is a stream that continues with each " +
    "new event. Each has an `id`: `Last-Event-ID` resumes from it without gap or repeat. If " +
    "retention has removed events after it, an event `gap` comes first, with `from` and `to`.",
  request: {
    query: query.extend({ lastEventId: lastEventId.number.query, token: queryTokenSchema }),
    headers: z.object({ "last-event-id": lastEventId.number.header }),
  },
  responses: {
    200: {
      content: {
        "application/json": { schema: pageSchema },
        "text/event-stream": { schema: z.string() },
      },
      description: "A part of the log, or the stream",
    },
    ...errors(400, 429),
  },
});

/** `/v1/events`: the event log. */
export function eventRoutes({ eventLog, streams }: EventRoutesOptions) {
  const frames = new EventFrames(formatEvent);
  return new ApiRoutes().openapi(listEvents, async (context) => {
    const { after, types, limit, lastEventId: last } = context.req.valid("query");
    if (!wantsEventStream(context.req.header("accept"))) {
      return context.json(await eventLog.read({ after, types, limit }), 200);
    }
    const from = context.req.valid("header")["last-event-id"] ?? last ?? after;
    if (context.req.method === "HEAD") return context.body(null, 200, STREAM_HEADERS);
    await eventLog.reach(from);
    const body = await streams.open<LoggedEvent>(callerOf(context), {
      follow(sink) {
        return eventLog.follow({ after: from, types }, sink);
      },
      frames,
    });
    return context.body(body, 200, STREAM_HEADERS);
  });
}

function formatEvent(event: LoggedEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${jsonLine(event)}`;
}
