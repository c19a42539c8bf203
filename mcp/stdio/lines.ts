/** Longest message, in bytes. */
const MAX_LINE = 16 * 2 ** 20;

/** A line that is longer than a message may be; its content is lost. */
export const TOO_LONG = Symbol("a line that is too long");

/** Splits bytes into lines; a last line needs no end. Empty lines are left out. */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<string | typeof TOO_LONG> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = finish([...parts, chunk.subarray(start, end)], length + end - start);
      if (line !== "") yield line;
      parts = [];
      length = 0;
      start = end + 1;
    }
    length += chunk.length - start;
    if (length > MAX_LINE) parts = [];
    else parts.push(chunk.slice(start));
  }
  const line = finish(parts, length);
  if (line !== "") yield line;
}

function finish(parts: readonly Uint8Array[], length: number): string | typeof TOO_LONG {
  if (length > MAX_LINE) return TOO_LONG;
  const bytes = new Uint8Array(length);
  let position = 0;
  for (const part of parts) {
    bytes.set(part, position);
    position += part.length;
  }
  return new TextDecoder().decode(bytes).trim();
}
