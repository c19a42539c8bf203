import { basename } from "node:path";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { accessOf } from "../../services/work/projects/mod.ts";
import { type LogBatch, STREAMED_BYTES } from "../../services/work/runs/mod.ts";
import { ApiRoutes } from "../api_routes.ts";
import { EventFrames, type EventStreams, jsonLine, STREAM_HEADERS } from "../event_streams.ts";
import { z } from "../extended_zod.ts";
import { lastEventId, queryTokenSchema } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";
import { bytesResponses } from "./answers.ts";
import { UNTRUSTED } from "./content_headers.ts";
import { answerFile } from "./file_answers.ts";
import { projectErrors, refuseInBatch } from "./route.ts";

const params = z.object({ job: z.string().max(30) });

const rawLog = specialRoute("GET /api/jobs/{job}/log/raw", {
  operationId: "getRawJobLog",
  summary: "The log of a job as text",
  request: { params },
  responses: {
    200: { content: { "text/plain": { schema: z.string() } }, description: "The log" },
    ...projectErrors(400),
  },
}, refuseInBatch);

const streamLog = specialRoute("GET /api/jobs/{job}/log/stream", {
  operationId: "streamJobLog",
  summary: "Follow the log of a job",
  description:
    "Server-Sent Events. `lines` has some lines of the log; its `id` is the number of the " +
    "last one, from which `Last-Event-ID` or `after` goes on. `end` comes when the job has ended, or " +
    "its runner is lost: look at the job then.",
  request: {
    params,
    query: z.object({
      after: z.string().regex(/^\d{1,9}$/, { error: "must be the number of a line" })
        .transform(Number).optional().openapi({
          type: "integer",
          minimum: 0,
          description: "Begin after this line; by default, with the first",
        }),
      lastEventId: lastEventId.number.query,
      token: queryTokenSchema,
    }),
    headers: z.object({ "last-event-id": lastEventId.number.header }),
  },
  responses: {
    200: { content: { "text/event-stream": { schema: z.string() } }, description: "The stream" },
    ...projectErrors(400, 429),
  },
}, refuseInBatch);

const getArtifact = specialRoute("GET /api/jobs/{job}/artifact", {
  operationId: "getJobArtifact",
  summary: "A file that a job has kept",
  description: "Supports `Range`, `If-Range` and `If-None-Match`.",
  request: {
    params,
    query: z.object({ path: z.string().max(500).openapi({ description: "Its path" }) }),
  },
  responses: { ...bytesResponses, ...projectErrors(400) },
});

/** Lines that were read at once, or the end of the log. */
type Item = LogBatch | { readonly state: string };

function format(item: Item): string {
  if ("state" in item) return `event: end\ndata: ${jsonLine(item)}`;
  return `id: ${item.lines.at(-1)?.number ?? 0}\nevent: lines\ndata: ${jsonLine(item.lines)}`;
}

/** Most lines of one event that a reader gets who comes later. */
const PART = 1000;

/** The logs and files of jobs, which are no operations. */
export function jobFileRoutes(
  { hosting }: Pick<Services, "hosting">,
  streams: EventStreams,
) {
  const { runs, jobLogs, jobArtifacts, projects } = hosting;
  const frames = new EventFrames<Item>(format);
  const keyOf = ({ id: jobId, projectId, generation }: {
    readonly id: string;
    readonly projectId: string;
    readonly generation: number;
  }) => ({ projectId, jobId, generation: Math.max(generation, 1) });
  return new ApiRoutes()
    .openapi(rawLog, async (context) => {
      const { project } = context.get("access");
      const job = await runs.requireJob(project, context.req.valid("param").job);
      const headers = { "Content-Type": "text/plain; charset=utf-8", ...UNTRUSTED };
      if (context.req.method === "HEAD") return context.body(null, 200, headers) as never;
      return context.body(await jobLogs.raw(keyOf(job)), 200, headers) as never;
    })
    .openapi(streamLog, async (context) => {
      const { project, principal } = context.get("access");
      const { after, lastEventId: last } = context.req.valid("query");
      const from = context.req.valid("header")["last-event-id"] ?? last ?? after ?? 0;
      const job = await runs.requireJob(project, context.req.valid("param").job);
      if (context.req.method === "HEAD") return context.body(null, 200, STREAM_HEADERS);
      const key = keyOf(job);
      const body = await streams.open<Item>({ principal, address: context.get("address") }, {
        frames,
        follow(sink) {
          const held = () => projects.get(project.id);
          const mayRead = () => {
            const now = held();
            return now !== null && accessOf(now, principal).may("read");
          };
          let isClosed = false;
          let next = from + 1;
          let newest = from;
          let isReading = false;
          let isUpToDate = false;
          let isOver = false;
          const give = (batch: LogBatch) => {
            const [first] = batch.lines;
            const lastLine = batch.lines.at(-1)?.number ?? 0;
            if (first === undefined || lastLine < next) return;
            // Readers that are up to date share the batch, and so its encoding.
            sink.message(
              first.number >= next
                ? batch
                : { lines: batch.lines.filter(({ number }) => number >= next) },
            );
            next = lastLine + 1;
          };
          const end = async () => {
            const { state } = await runs.requireJob(project, job.id).catch(() => job);
            if (isClosed) return;
            sink.message({ state });
            sink.end();
          };
          const close = jobLogs.follow(key, {
            batch(batch) {
              if (!mayRead()) return sink.end();
              newest = batch.lines.at(-1)?.number ?? newest;
              if (isUpToDate) give(batch);
            },
            end() {
              isOver = true;
              if (isUpToDate) void end();
            },
          });
          /** Gives the next lines of the file; the reader asks again once it has read them. */
          const readOn = async () => {
            if (!mayRead()) return sink.end();
            const { lines } = await jobLogs.read(key, next, PART, STREAMED_BYTES);
            if (isClosed) return;
            if (lines.length > 0) {
              isReading = false;
              return give({ lines });
            }
            if (newest >= next) return await readOn();
            isUpToDate = true;
            const now = await runs.store.job(job.id);
            const isLive = now?.state === "running" && now.generation === job.generation ||
              now?.state === "queued" || now?.state === "waiting";
            if (!isLive || isOver) await end();
          };
          return {
            close() {
              isClosed = true;
              close();
            },
            cut: () => isUpToDate,
            more() {
              if (isReading || isUpToDate) return;
              isReading = true;
              readOn().catch(() => sink.end());
            },
          };
        },
      });
      return context.body(body, 200, STREAM_HEADERS);
    })
    .openapi(getArtifact, async (context) => {
      const { project } = context.get("access");
      const { path } = context.req.valid("query");
      const job = await runs.requireJob(project, context.req.valid("param").job);
      const found = await jobArtifacts.find(job.id, path);
      return await answerFile(context, {
        name: basename(path),
        file_size_bytes: found.bytes,
        content_type: "application/octet-stream",
        uuid: found.uuid,
      }, {
        open: async () => ({
          file: await jobArtifacts.open(job, found),
          size: found.bytes,
          uuid: found.uuid,
        }),
      });
    });
}
