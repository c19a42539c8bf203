import { isRecord } from "./json_rpc.ts";

/** The revisions that a client may request with `initialize`, the oldest first. */
export const INITIALIZED_REVISIONS: readonly string[] = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
];
/** For clients that name no revision. */
export const OLDEST_REVISION = "2024-11-05";
/** For clients that ask for one that is not known. */
export const NEWEST_REVISION = "2025-11-25";
export const STATELESS_REVISION = "2026-07-28";
/** The first revision with structured results. */
export const STRUCTURED_REVISION = "2025-06-18";

/** Where a request of the stateless revision names its revision. */
const REVISION_KEY = "io.modelcontextprotocol/protocolVersion";

/** The revision that a message of the stateless revision names; null for all others. */
export function revisionIn(message: unknown): string | null {
  const meta = isRecord(message) && isRecord(message.params) ? message.params._meta : undefined;
  const revision = isRecord(meta) ? meta[REVISION_KEY] : undefined;
  return typeof revision === "string" ? revision : null;
}

/**
 * The revision for a client with these parameters of `initialize`: the one that it asks for, or the
 * newest in place of one that is not known. A client that asks for none gets the oldest.
 */
export function agreedRevision(params: unknown): string {
  const asked = isRecord(params) ? params.protocolVersion : undefined;
  if (typeof asked !== "string") return OLDEST_REVISION;
  return INITIALIZED_REVISIONS.includes(asked) ? asked : NEWEST_REVISION;
}
