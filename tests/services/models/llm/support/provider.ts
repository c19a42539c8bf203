/** Providers of language models on this machine, which speak what the real ones speak. */
import { crc32 } from "node:zlib";

/** A request as a provider saw it. */
export interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Headers;
  /** Undefined where there was none. */
  readonly body: unknown;
  /** Resolves when the caller has left. */
  readonly left: Promise<void>;
}

type Answer = (request: SeenRequest) => Response | Promise<Response>;

/** An HTTP server in the place of a provider. */
export class FakeProvider implements AsyncDisposable {
  /** What was asked, in order. */
  readonly seen: SeenRequest[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #closing = new AbortController();

  constructor(answer: Answer) {
    const { signal } = this.#closing;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, signal, onListen: () => {} },
      async (request) => {
        const url = new URL(request.url);
        const text = await request.text();
        const seen = {
          method: request.method,
          path: url.pathname + url.search,
          headers: request.headers,
          body: text === "" ? undefined : JSON.parse(text),
          left: new Promise<void>((resolve) => {
            if (request.signal.aborted) resolve();
            else request.signal.addEventListener("abort", () => resolve());
          }),
        };
        this.seen.push(seen);
        return await answer(seen);
      },
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** The only request that came. */
  get only(): SeenRequest {
    const [request, ...more] = this.seen;
    if (request === undefined || more.length > 0) {
      throw new Error(`There were ${this.seen.length} requests instead of one`);
    }
    return request;
  }

  /** Closes every connection: an answer that a test left open keeps nothing waiting. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#server.finished;
  }
}

/** Server-sent events of JSON; with names where the provider names its events. */
export function eventStream(events: readonly unknown[], { named = false, done = false } = {}) {
  const frames = events.map((event) => {
    const { type } = event as { type?: string };
    return `${named ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
  });
  if (done) frames.push("data: [DONE]\n\n");
  return new Response(inPieces(frames.join("")), {
    headers: { "content-type": "text/event-stream" },
  });
}

/** A server-sent event with the name of its type. */
export function named(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** One JSON object per line, as Ollama streams. */
export function jsonLines(objects: readonly unknown[]): Response {
  const text = objects.map((object) => `${JSON.stringify(object)}\n`).join("");
  return new Response(inPieces(text), { headers: { "content-type": "application/x-ndjson" } });
}

/** Messages of AWS's binary event stream, as Amazon Bedrock streams. */
export function awsEventStream(events: readonly (readonly [string, unknown])[]): Response {
  const frames = events.map(([type, payload]) => awsMessage(type, payload));
  return new Response(new Blob(frames), {
    headers: { "content-type": "application/vnd.amazon.eventstream" },
  });
}

/** A text in chunks that end anywhere, in the middle of characters too. */
function inPieces(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(text);
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.slice(offset, offset + 37));
      offset += 37;
      if (offset >= bytes.length) controller.close();
    },
  });
}

/** Prelude, headers and payload, the prelude and the whole each with a CRC-32. */
function awsMessage(type: string, payload: unknown): Uint8Array<ArrayBuffer> {
  const headers = bytesOf([
    awsHeader(":event-type", type),
    awsHeader(":content-type", "application/json"),
    awsHeader(":message-type", "event"),
  ]);
  const body = new TextEncoder().encode(JSON.stringify(payload));
  const message = new Uint8Array(12 + headers.length + body.length + 4);
  const view = new DataView(message.buffer);
  view.setUint32(0, message.length);
  view.setUint32(4, headers.length);
  view.setUint32(8, crc32(message.subarray(0, 8)));
  message.set(headers, 12);
  message.set(body, 12 + headers.length);
  view.setUint32(message.length - 4, crc32(message.subarray(0, message.length - 4)));
  return message;
}

function awsHeader(name: string, value: string): Uint8Array {
  const encoder = new TextEncoder();
  const [nameBytes, valueBytes] = [encoder.encode(name), encoder.encode(value)];
  const length = new Uint8Array([7, valueBytes.length >> 8, valueBytes.length & 0xff]);
  return bytesOf([new Uint8Array([nameBytes.length]), nameBytes, length, valueBytes]);
}

function bytesOf(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
