import type { Context } from "hono";
import { type AppEnv, callerOf } from "../../routes/environment.ts";
import {
  type EventStreams,
  STREAM_HEADERS,
  type StreamSource,
} from "../../routes/event_streams.ts";
import { sessionOf, type SessionPlace } from "../../routes/middleware/session.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import { GUEST, type Principal } from "../../services/people/identity/mod.ts";

const EVENT_NUMBER = /^\d{1,15}$/;

/** The person or admin of the session's cookie; else the guest. */
export function visitorOf(context: Context<AppEnv>, place: SessionPlace): Principal {
  const session = sessionOf(context, place);
  const principal = session?.principal ?? GUEST;
  context.set("principal", principal);
  return principal;
}

/**
 * The id of the last event that a reader has: the header `Last-Event-ID`, or else the query
 * parameter `lastEventId`. An empty one is none.
 */
export function lastEventIdOf({ req }: Context<AppEnv>): string | undefined {
  return req.header("last-event-id") || req.query("lastEventId") || undefined;
}

/**
 * The number of the event after which a stream begins: that of {@linkcode lastEventIdOf}, or else the
 * query parameter `after`, or else from now on.
 *
 * @throws Invalid
 */
export function startOf(context: Context<AppEnv>): number | undefined {
  const given = lastEventIdOf(context) ?? context.req.query("after");
  if (given === undefined) return undefined;
  if (!EVENT_NUMBER.test(given)) throw new Invalid('"after" must be the number of an event');
  return Number(given);
}

/** Answers with a stream; HEAD gets its headers alone. */
export async function answerStream<Item extends object>(
  context: Context<AppEnv>,
  streams: EventStreams,
  source: StreamSource<Item>,
): Promise<Response> {
  if (context.req.method === "HEAD") return context.body(null, 200, STREAM_HEADERS);
  const body = await streams.open(callerOf(context), source);
  return context.body(body, 200, STREAM_HEADERS);
}
