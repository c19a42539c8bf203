import { EventSourceParserStream } from "eventsource-parser/stream";
import { refusal } from "./errors.js";
import { backoff, pause } from "./retries.js";

/** An event of a stream. */
export interface StreamedEvent<Data> {
  /** Its place: the next stream goes on behind it. */
  readonly id: string | undefined;
  /** `message`, or what the server calls it, such as `gap`. */
  readonly event: string;
  readonly data: Data;
}

/**
 * Follows a stream of server-sent events without an end. A stream that breaks off is opened again
 * behind the last event, so that none is lost and none comes twice.
 *
 * @param open sends the request with the headers that it gets
 * @throws MusterError if the server refuses the stream; the signal's reason when it is aborted
 */
export async function* follow<Data>(
  open: (headers: Headers) => Promise<Response>,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamedEvent<Data>, never> {
  let last: string | undefined;
  for (let attempt = 0;; attempt++) {
    if (attempt > 0) await pause(backoff(Math.min(attempt - 1, 6)), signal);
    const headers = new Headers({ accept: "text/event-stream" });
    if (last !== undefined) headers.set("last-event-id", last);
    try {
      const response = await open(headers);
      if (!response.ok || response.body === null) {
        const error = refusal(response, await bodyOf(response));
        // Too many streams, or too many requests: later there is a place.
        if (response.status < 500 && response.status !== 429) throw error;
        continue;
      }
      const events = response.body.pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream());
      for await (const { id, event = "message", data } of events) {
        attempt = 0;
        last = id ?? last;
        yield { id, event, data: JSON.parse(data) as Data };
      }
    } catch (error) {
      signal?.throwIfAborted();
      // What fetch throws where the connection fails or breaks off.
      if (!(error instanceof TypeError)) throw error;
    }
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
