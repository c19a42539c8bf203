import { waitSchema, wholeNumber } from "../../services/validation/schemas.ts";
import { nickSchema, sinceSchema, spokenTextSchema } from "../../services/messages/schemas.ts";
import { z } from "../extended_zod.ts";
import { Waits } from "../../http/mod.ts";
import type { Bridge, ChannelMessage } from "../../services/bridge/mod.ts";
import type { Gap } from "../../services/messages/mod.ts";
import type { Identity } from "../../services/identity/mod.ts";
import { CHANNEL_ARGUMENT_PATTERN, isNick } from "../../services/irc/mod.ts";
import { inputOf } from "../api_routes.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import type { Answer, InputOf } from "../direct.ts";
import {
  EventFrames,
  type EventStreams,
  jsonLine,
  jsonLineText,
  STREAM_HEADERS,
} from "../event_streams.ts";
import { flatTexts } from "../flat_texts.ts";
import { hold } from "../held_answers.ts";
import { textAnswer } from "../json_text.ts";
import { ListTexts } from "../list_texts.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest, lastEventId, queryTokenSchema } from "../schemas.ts";

export interface ChannelMessageRoutesOptions {
  readonly bridge: Bridge;
  /** The number of messages kept per channel. */
  readonly bufferSize: number;
  readonly identity: Pick<Identity, "onEnded">;
  readonly streams: EventStreams;
}

const messageSchema = z.object({
  id: z.string(),
  nick: z.string(),
  account: z.string().nullable().openapi({
    description: "The authenticated account of the speaker, or null",
  }),
  text: z.string(),
  via: z.literal("bridge").optional().openapi({
    description: "Present if the operator said it under another name",
  }),
  reply: z.string().optional().openapi({
    description: "The id of the message that it answers; absent if it answers none",
  }),
  timestamp: z.string().openapi({
    description: "ISO 8601, UTC, microseconds; strictly increasing within a channel",
    example: "2026-11-20T23:18:00.123456Z",
  }),
}).openapi("ChannelMessage");

/** The path of a channel. */
export const channelParams = z.object({
  channel: z.string().openapi({
    description: "The name, with or without #",
    example: "general",
    pattern: CHANNEL_ARGUMENT_PATTERN,
  }),
});

/** @param bufferSize how many messages of a channel are kept */
function messageQuery(bufferSize: number) {
  return z.object({
    since: sinceSchema,
    before: z.string().min(1).optional().openapi({
      description: "The timestamp or id of a message: only older ones, the newest of them, as " +
        "far back as the IRC server keeps them. Not together with `since` or `wait_seconds`",
    }),
    limit: wholeNumber("Most messages; by default, all that are kept", 1, bufferSize),
    wait_seconds: waitSchema,
  });
}

const postSchema = z.object({
  nick: nickSchema.optional().openapi({
    description: "The speaker's name; by default, the bridge's",
  }),
  text: spokenTextSchema,
  reply: z.string().min(1).max(200).optional().openapi({
    description: "The id of the message that this one answers",
  }),
}).openapi("MessageRequest");

function listMessages(bufferSize: number) {
  return route("GET /v1/channels/{channel}/messages", {
    summary: "Read messages of a channel, oldest first",
    request: { params: channelParams, query: messageQuery(bufferSize) },
    responses: {
      200: json(
        z.array(messageSchema),
        "The newest, the first ones after `since`, or the last before `before`. The header " +
          "`Muster-Gap` tells that messages after `since` may be missing: it has the timestamp " +
          "of the oldest that is there, or `none`",
      ),
      ...errors(400, 404, 409, 429, 503, 504),
    },
  });
}

const streamMessages = route("GET /v1/channels/{channel}/stream", {
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

const postMessage = route("POST /v1/channels/{channel}/messages", {
  summary: "Post a message to a channel",
  description: "It is said as often as it is sent: a `client_id` counts for messages to an agent " +
    "or a person alone.",
  request: { params: channelParams, body: jsonRequest(postSchema, { text: "hello, agents" }) },
  responses: {
    204: { description: "Delivered to IRC" },
    ...errors(400, 404, 409, 413, 429, 503, 504),
  },
});

/** A listener for requests that only check whether a stream could be opened (HEAD). */
const SILENT = { message() {}, end() {} };

/** `/v1/channels/{channel}/messages` and `/stream`. */
export function channelMessageRoutes(options: ChannelMessageRoutesOptions) {
  const { bridge, bufferSize, identity, streams } = options;
  const frames = new EventFrames(shortEvent);
  const wholeFrames = new EventFrames<ChannelMessage>((message) =>
    `id: ${message.id}\ndata: ${jsonLine(message)}`
  );
  const texts = new ListTexts<ChannelMessage>();
  const waits = new Waits();
  identity.onEnded((ended) => waits.abortEnded(ended));

  const list = listMessages(bufferSize);
  const answerNow: Answer<InputOf<typeof list>> = async ({ params, query }, caller) => {
    const { channel } = params;
    const gaps: Gap[] = [];
    const onGap = query.since === undefined ? undefined : (gap: Gap) => void gaps.push(gap);
    const messages = await bridge.messages(channel, { ...query, waitSeconds: 0, onGap }, caller);
    const answer = textAnswer(texts.of(channel, messages));
    for (const [name, value] of gapHeaders(gaps)) answer.headers.set(name, value);
    return answer;
  };
  return newRoutes()
    .answer(list, answerNow, {
      handler: (context) => {
        const input = inputOf<typeof list>(context);
        const { params: { channel }, query: { wait_seconds: waitSeconds = 0, ...range } } = input;
        const caller = callerOf(context);
        if (waitSeconds === 0) return answerNow(input, caller);
        const gaps: Gap[] = [];
        const onGap = (gap: Gap) => void gaps.push(gap);
        const messages = waits.run(
          context.get("principal"),
          context.req.raw.signal,
          (end) => bridge.messages(channel, { ...range, waitSeconds, end, onGap }, caller),
        );
        return hold(
          context,
          messages.then((found) => Response.json(found, { headers: gapHeaders(gaps) })),
        );
      },
    })
    .answer(
      postMessage,
      ({ params: { channel }, json }, caller) =>
        bridge.post(channel, json, caller).then(() => new Response(null, { status: 204 })),
      { usual: usualPost },
    )
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

/** Tells that messages after `since` may be missing: which is the oldest that is there. */
function gapHeaders([gap]: readonly Gap[]): [string, string][] {
  return gap === undefined ? [] : [["Muster-Gap", gap.to ?? "none"]];
}

/** A post of a text, under a nick or without one. */
function usualPost(body: string): z.output<typeof postSchema> | null {
  const texts = flatTexts(body);
  if (texts === null || texts.length > 4) return null;
  const [name, value = "", other, more = ""] = texts;
  const text = name === "text" ? value : more;
  if (text === "") return null;
  if (other === undefined) return name === "text" ? { text } : null;
  const isBoth = name === "text" ? other === "nick" : name === "nick" && other === "text";
  const nick = name === "text" ? more : value;
  return isBoth && isNick(nick) ? { nick, text } : null;
}

/** The fields of an event that shows what most readers of a message need. */
function shortEvent({ id, nick, text, timestamp }: ChannelMessage): string {
  return `id: ${id}\ndata: {"nick":${jsonLineText(nick)},"text":${jsonLineText(text)},` +
    `"timestamp":"${timestamp}"}`;
}
