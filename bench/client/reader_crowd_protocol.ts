import type { EventStream } from "./event_stream.ts";

/** The task of a crowd of readers: the stream, and how many read it. */
export interface ReaderCrowdRequest {
  readonly stream: EventStream;
  readonly count: number;
}

/** What the crowd says: every request is written, and then every response has begun. */
export type CrowdNews = "asked" | "ready";
