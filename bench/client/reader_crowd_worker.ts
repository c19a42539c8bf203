/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { giveWay } from "../../services/kernel/thread_priority.ts";
import { inParallel } from "../parallel.ts";
import { EventStreamClient } from "./event_stream.ts";
import type { CrowdNews, ReaderCrowdRequest } from "./reader_crowd.ts";

/** Streams requested at the same time. */
const PARALLEL_REQUESTS = 50;

function serve(): void {
  // Real readers run on other machines.
  giveWay();
  const tell = (news: CrowdNews) => self.postMessage(news);
  self.onmessage = async ({ data: { stream, count } }: MessageEvent<ReaderCrowdRequest>) => {
    const places = Array.from({ length: count });
    const readers = await inParallel(
      places,
      PARALLEL_REQUESTS,
      () => EventStreamClient.ask(stream),
    );
    tell("asked");
    await Promise.all(readers.map((reader) => reader.ready()));
    tell("ready");
  };
}

serve();
