import { CommandFailed } from "../output.ts";

/** Longest text on standard input, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * All of standard input, as text.
 *
 * @param what the expected text, for the error if there is none.
 */
export async function readStandardInput(what: string): Promise<string> {
  if (Deno.stdin.isTerminal()) throw new CommandFailed(`${what} is read from standard input`, 2);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of Deno.stdin.readable) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new CommandFailed(`${what} is too large`);
    chunks.push(chunk);
  }
  return await new Blob(chunks).text();
}
