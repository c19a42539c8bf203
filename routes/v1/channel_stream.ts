import { sinceSchema } from "../../services/chat/messages/schemas.ts";
import { ApiRoutes } from "../api_routes.ts";
import { callerOf } from "../environment.ts";
import { z } from "../extended_zod.ts";
import type { Bridge, ChannelMessage } from "../../services/chat/bridge/mod.ts";
import { CHANNEL_ARGUMENT_PATTERN } from "../../services/engines/irc/mod.ts";
import {
  EventFrames,
  type EventStreams,
  jsonLine,
  jsonLineText,
  STREAM_HEADERS,
} from "../event_streams.ts";
import { errors, lastEventId, queryTokenSchema } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";

const channelParams = z.object({
  channel: z.string().openapi({
    description: "The name, with or without #",
    example: "general",
    pattern: CHANNEL_ARGUMENT_PATTERN,
  }),
});

const streamMessages = specialRoute("GET /v1/channels/{channel}/stream", {
  operationId: "streamChannel",
  summary: "Stream new messages of a channel as server-sent events",
  request: {
    params: channelParams,
    query: z.object({
      since: sinceSchema,
      full: z.enum(["true", "false"]).optional().openapi({
        description: "With `true`, an event has all fields of a message",
      }),
      lastEventId: lastEventId.message.query,
      token: queryTokenSchema,
    }),
    headers: z.object({ "last-event-id": lastEventId.message.header }),
  },
  responses: {
    200: {
      content: { "text/event-stream": { schema: z.string() } },
      description: "For each message its `id:`, and one `data:` line of JSON: nick, text, " +
        "timestamp. `Last-Event-ID` resumes as `since` does. If messages after it may be missing, " +
        "an event named `gap` comes first: `from` is what was asked for, `to` the timestamp of " +
        "the oldest message that is there, or null",
    },
    ...errors(400, 404, 409, 429, 503, 504),
  },
});

/** A listener for requests that only check whether a stream could be opened (HEAD). */
const SILENT = { message() {}, end() {} };

/** `/v1/channels/{channel}/stream`. */
export function channelStreamRoutes(bridge: Bridge, streams: EventStreams) {
  const frames = new EventFrames(shortEvent);
  const wholeFrames = new EventFrames<ChannelMessage>((message) =>
    `id: ${message.id}\ndata: ${jsonLine(message)}`
  );
  return new ApiRoutes()
    .openapi(streamMessages, async (context) => {
      const { channel } = context.req.valid("param");
      const { since, full, lastEventId: last } = context.req.valid("query");
      const start = { since, lastEventId: context.req.valid("header")["last-event-id"] ?? last };
      if (context.req.method === "HEAD") {
        const following = await bridge.follow(channel, start, SILENT, callerOf(context));
        following.close();
        return context.body(null, 200, STREAM_HEADERS);
      }
      const caller = callerOf(context);
      const body = await streams.open<ChannelMessage>(caller, {
        follow: (sink) => bridge.follow(channel, start, sink, caller),
        frames: full === "true" ? wholeFrames : frames,
      });
      return context.body(body, 200, STREAM_HEADERS);
    });
}

/** The fields of an event that shows what most readers of a message need. */
function shortEvent({ id, nick, text, timestamp }: ChannelMessage): string {
  return `id: ${id}\ndata: {"nick":${jsonLineText(nick)},"text":${jsonLineText(text)},` +
    `"timestamp":"${timestamp}"}`;
}
