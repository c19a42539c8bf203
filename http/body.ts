import { Invalid, TooLarge } from "../services/errors.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes a body, which JSON requires to be UTF-8 (RFC 8259, section 8.1). A byte order mark is
 * dropped.
 *
 * @throws Invalid where it is not UTF-8
 */
export function decodeBody(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Invalid("The body is not valid UTF-8");
  }
}

/**
 * Reads the body of a request as text.
 *
 * @throws TooLarge as soon as it is longer than `maxBytes`, Invalid where it is not UTF-8
 */
export async function readBody(request: Request, maxBytes: number): Promise<string> {
  const declared = Number(request.headers.get("content-length") ?? NaN);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  if (declared >= 0) return decodeBody(await request.arrayBuffer());
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return decodeBody(await new Blob(chunks).arrayBuffer());
}

function tooLarge(maxBytes: number): TooLarge {
  return new TooLarge(`The body is larger than ${maxBytes} bytes`);
}
