import type { Origin } from "../../engines/events/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";

const PREFIX = "muster:";

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
    const { actor, actorId, address, cause } = JSON.parse(mark.slice(PREFIX.length));
    const isOurs = typeof actor === "string" && [actorId, address, cause].every(isTextOrNull);
    return isOurs ? { actor, actorId, address, cause } : null;
  } catch {
    return null;
  }
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}
