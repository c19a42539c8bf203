/** Tells an answer that is JSON from one that is a stream. */

/** UTF-8's byte order mark, and the white space of JSON. */
const SKIPPED: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0a, 0x0d]);

/** `{` and `[`. No event of a stream begins with them, in any provider's format but Ollama's. */
const JSON_STARTS: ReadonlySet<number> = new Set([0x7b, 0x5b]);

/** An answer: as a whole, if it is JSON, or as a response whose body is still to be read. */
export type Opened =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "stream"; readonly response: Response };

/** Reads the beginning of an answer, and all of it if it is JSON. Its type may be wrong. */
export async function opened(response: Response): Promise<Opened> {
  const reader = response.body?.getReader();
  const read: Uint8Array<ArrayBuffer>[] = [];
  let start: number | undefined;
  while (reader !== undefined && start === undefined) {
    const { value, done } = await reader.read();
    if (done) break;
    read.push(value);
    start = value.find((byte) => !SKIPPED.has(byte));
  }
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const first = read.shift();
      if (first !== undefined) return controller.enqueue(first);
      const next = await reader?.read();
      if (next === undefined || next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: (reason) => reader?.cancel(reason),
  }, { highWaterMark: 0 });
  const whole = new Response(body, { status: response.status, headers: response.headers });
  if (start === undefined || !JSON_STARTS.has(start)) return { kind: "stream", response: whole };
  return { kind: "whole", text: await whole.text() };
}
