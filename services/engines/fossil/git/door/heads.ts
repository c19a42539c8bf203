/** What a commit needs of a check-in, read without its files. */
import { Buffer } from "node:buffer";
import { type Manifest, parseArtifact } from "../../artifact/mod.ts";
import { joinBytes } from "../../codec/mod.ts";

/** A check-in without its files. */
export type CheckinHead = Pick<Manifest, "comment" | "date" | "parents" | "tags" | "user">;

/**
 * Reads the cards of a check-in that is linked, so that its checksum was checked. Of most, nearly all
 * bytes are F cards, which are skipped. Null if it is none.
 */
export function headOf(manifest: Uint8Array): CheckinHead | null {
  const short = parseArtifact(withoutFiles(manifest), { isSealed: true });
  const whole = short?.kind === "manifest" ? short : parseArtifact(manifest, { isSealed: true });
  if (whole?.kind !== "manifest") return null;
  const { comment, date, parents, tags, user } = whole;
  return { comment, date, parents, tags, user };
}

function withoutFiles(manifest: Uint8Array): Uint8Array {
  const buffer = Buffer.from(manifest.buffer, manifest.byteOffset, manifest.length);
  const start = buffer.indexOf("\nF ") + 1;
  if (start === 0) return manifest;
  const end = buffer.indexOf("\n", buffer.lastIndexOf("\nF ") + 1) + 1;
  return joinBytes([manifest.subarray(0, start), manifest.subarray(end)]);
}
