import type { Context } from "hono";
import type { AppEnv } from "../../routes/environment.ts";
import { EventFrames, jsonLine, type StreamSink } from "../../routes/event_streams.ts";
import { accessProject } from "../../services/work/projects/mod.ts";
import type { LogBatch, LogKey, NumberedLine } from "../../services/work/runs/mod.ts";
import type { SentLine } from "../elements/sent_line.ts";
import type { Surroundings } from "../visit.ts";
import { answerStream, startOf, visitorOf } from "./request.ts";

/** So many lines a reader may have missed; one that missed more gets a gap, and loads the end. */
const MOST_MISSED = 2000;

/** Tells readers that no line follows, so that they do not come back. */
const END: LogBatch = Object.freeze({ lines: [] });

/**
 * The lines of a job that runs, as they come. The id of an event is the number of its last line. A batch is
 * encoded once for all readers.
 */
export class JobLogStream {
  readonly #surroundings: Surroundings;
  readonly #frames = new EventFrames<LogBatch>(({ lines }) => {
    const last = lines.at(-1);
    return last === undefined
      ? "event: end\ndata: end"
      : `id: ${last.number}\ndata: ${jsonLine(lines.map(sent))}`;
  });

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /**
   * Answers with the stream, which ends with the job. It begins after the line with the number in
   * `Last-Event-ID` or the parameter `after`.
   *
   * @throws NotFound if the visitor may not read the project, or it has no such job; Invalid; TooMany
   */
  async answer(context: Context<AppEnv>): Promise<Response> {
    const { services, streams } = this.#surroundings;
    const { projects, repositories, runs } = services.hosting;
    const principal = visitorOf(context, services);
    const access = accessProject(projects, context.req.param("slug") ?? "", principal);
    access.require("read");
    repositories.homes.require(access.project);
    const job = await runs.requireJob(access.project, context.req.param("id") ?? "");
    const after = startOf(context) ?? 0;
    return await answerStream<LogBatch>(context, streams, {
      frames: this.#frames,
      follow: (sink) => this.#follow({ ...job, jobId: job.id }, after, sink),
    });
  }

  async #follow(key: LogKey, after: number, sink: StreamSink<LogBatch>) {
    const { jobLogs, runs } = this.#surroundings.services.hosting;
    let next = after + 1;
    let held: LogBatch[] | null = [];
    const send = (batch: LogBatch) => {
      const lines = batch.lines.filter(({ number }) => number >= next);
      if (lines.length === 0) return;
      next = (lines.at(-1)?.number ?? next) + 1;
      sink.message(lines.length === batch.lines.length ? batch : { lines });
    };
    const end = () => {
      sink.message(END);
      sink.end();
    };
    // It follows before it reads, so that no line is missed between the two.
    const close = jobLogs.follow(key, {
      batch: (batch) => held === null ? send(batch) : void held.push(batch),
      end,
    });
    try {
      const { total } = await jobLogs.read(key, 1, 1);
      if (total - after > MOST_MISSED) {
        sink.gap({ from: String(after), to: String(total) });
        next = total + 1;
      }
      while (next <= total) {
        const { lines } = await jobLogs.read(key, next, MOST_MISSED);
        if (lines.length === 0) break;
        send({ lines });
      }
      for (const batch of held) send(batch);
      held = null;
      const job = await runs.store.job(key.jobId);
      if (job?.state !== "running" || job.generation !== key.generation) end();
    } catch (error) {
      close();
      throw error;
    }
    return { close, cut: () => true };
  }
}

function sent({ number, at, stream, text }: NumberedLine): SentLine {
  return [number, at, stream, text];
}
