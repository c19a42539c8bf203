import { z } from "zod";
import type { Origin } from "../events/mod.ts";
import { newUlid } from "../ulid.ts";

const PREFIX = "muster:";

const markSchema = z.object({
  actor: z.string(),
  actorId: z.string().nullable(),
  address: z.string().nullable(),
  cause: z.string().nullable(),
});

/**
 * The mark of a push: the repository keeps it with what the push brings. So the events name the
 * pusher even if the process ends before it appends them. No two marks are the same.
 *
 * @param now Unix milliseconds
 */
export function markOf({ actor, actorId, address, cause }: Origin, now: number): string {
  return PREFIX + JSON.stringify({ actor, actorId, address, cause, push: newUlid(now) });
}

/** The origin that a mark holds; null for the marks of other programs. */
export function originIn(mark: string | null): Origin | null {
  if (mark === null || !mark.startsWith(PREFIX)) return null;
  try {
    return markSchema.parse(JSON.parse(mark.slice(PREFIX.length)));
  } catch {
    return null;
  }
}
