/** What is known of a message of the sync protocol before it is read. */
import { LOGIN_HEAD_BYTES } from "../../engines/fossil/front/mod.ts";

/** A message with more lines is read in a worker. */
const SMALL_LINES = 2000;
const NEWLINE = 10;

/** The length that a compressed body declares. */
export function declaredLength(body: Uint8Array): number {
  if (body.length < 4) return 0;
  return new DataView(body.buffer, body.byteOffset, body.byteLength).getUint32(0);
}

/** Whether a message has so few lines that the main thread reads it, whatever its length. */
export function hasFewLines(message: Uint8Array): boolean {
  let at = -1;
  for (let lines = 0; lines <= SMALL_LINES; lines++) {
    at = message.indexOf(NEWLINE, at + 1);
    if (at < 0) return true;
  }
  return false;
}

/** The part of a message in a file in which a login can be. */
export async function readHead(path: string): Promise<Uint8Array> {
  using file = await Deno.open(path);
  const head = new Uint8Array(LOGIN_HEAD_BYTES);
  const length = await file.read(head) ?? 0;
  return head.subarray(0, length);
}
