import { ApiRoutes } from "../api_routes.ts";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { PROJECT_EVENT_NAMES } from "../../services/engines/events/mod.ts";
import type { Notice } from "../../services/work/feeds/mod.ts";
import { accessOf } from "../../services/work/projects/mod.ts";
import { EventFrames, type EventStreams, jsonLine, STREAM_HEADERS } from "../event_streams.ts";
import { lastEventId, queryTokenSchema } from "../schemas.ts";
import { projectErrors, refuseInBatch } from "./route.ts";
import { specialRoute } from "../special_route.ts";

/** Most names in one request. */
const MAX_NAMES = 50;

const NAME_PATTERN = "[a-z][a-z_]{0,63}";

const streamEvents = specialRoute("GET /api/events", {
  operationId: "streamProjectEvents",
  summary: "A stream of the project's events",
  description: "Server-Sent Events, pushed as they happen, whichever program caused them: " +
    "`checkin`, `claim`, `workspace`, `ticket`, `review`, `status`, `wiki`, `release`, `landing`, " +
    "`tag`, `technote`, `forum`, `attachment` and changes of the project itself. Each has an `id`: " +
    "`Last-Event-ID` or `after` resumes from it without gap or repeat, also after a restart; if " +
    "retention has removed events after it, an event `gap` with `from` and `to` comes first. A " +
    "comment every 15 seconds keeps the connection open. A reader that falls 1,000 events or 1 MiB " +
    "behind is closed; so is one whose right to read the project ends.",
  request: {
    query: z.object({
      after: z.string().regex(/^\d{1,15}$/, { error: "must be the number of an event" })
        .transform(Number).optional().openapi({
          type: "integer",
          minimum: 0,
          description: "Begin after this event; by default, only new events",
        }),
      types: z.string().max(5000, { error: "is too long" })
        .transform((text) => text.split(",").map((name) => name.trim()))
        .refine((names) => names.length <= MAX_NAMES && names.every(isEventName), {
          error: `must be at most ${MAX_NAMES} of ${PROJECT_EVENT_NAMES.join(", ")}`,
        }).optional().openapi({
          type: "string",
          pattern: `^${NAME_PATTERN}(,${NAME_PATTERN})*$`,
          description: "Only events of these names, separated by commas",
        }),
      lastEventId: lastEventId.number.query,
      token: queryTokenSchema,
    }),
    headers: z.object({ "last-event-id": lastEventId.number.header }),
  },
  responses: {
    200: {
      content: { "text/event-stream": { schema: z.string() } },
      description: "The stream",
    },
    ...projectErrors(400, 429),
  },
}, refuseInBatch);

/** `/api/events`. */
export function eventRoutes(
  { hosting, eventLog }: Pick<Services, "hosting" | "eventLog">,
  streams: EventStreams,
) {
  const { feeds, projects } = hosting;
  const frames = new EventFrames(formatNotice);
  return new ApiRoutes().openapi(streamEvents, async (context) => {
    const { after, lastEventId: last, types: names } = context.req.valid("query");
    const from = context.req.valid("header")["last-event-id"] ?? last ?? after;
    if (context.req.method === "HEAD") return context.body(null, 200, STREAM_HEADERS);
    const { project: { id }, principal } = context.get("access");
    await eventLog.reach(from);
    const body = await streams.open<Notice>({ principal, address: context.get("address") }, {
      frames,
      follow(sink) {
        return feeds.follow(id, { after: from, names }, {
          message: (notice) => sink.message(notice),
          gap: (gap) => sink.gap(gap),
          end: () => sink.end(),
          mayRead() {
            const held = projects.get(id);
            return held !== null && accessOf(held, principal).may("read");
          },
        });
      },
    });
    return context.body(body, 200, STREAM_HEADERS);
  });
}

function isEventName(name: string): boolean {
  return PROJECT_EVENT_NAMES.includes(name);
}

function formatNotice({ seq, name, data }: Notice): string {
  return `id: ${seq}\nevent: ${name}\ndata: ${jsonLine(data)}`;
}
