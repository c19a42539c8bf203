import { createHash } from "node:crypto";

/** The length of a file, and the SHA-256 of its content in hex. */
export interface FileSum {
  readonly bytes: number;
  readonly sha256: string;
}

/** Computes the sum of a file. */
export async function sumOf(path: string): Promise<FileSum> {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = await Deno.open(path);
  for await (const part of file.readable) {
    hash.update(part);
    bytes += part.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}
