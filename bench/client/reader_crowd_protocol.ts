import type { EventStream } from "./event_stream.ts";

/** The task of a crowd of readers: the stream, and the number of readers. */
export interface ReaderCrowdRequest {
  readonly stream: EventStream;
  readonly count: number;
}

/** The crowd's messages: first, every request is written; then, every response has begun. */
export type CrowdNews = "asked" | "ready";
