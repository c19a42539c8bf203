import type { Principal } from "./principal.ts";

/** The part of a shared bound that only the operator and admins may use. */
const RESERVED_SHARE = 1 / 8;

/** Whether a principal runs this server. In a flood it must still be able to watch and act. */
export function isOverseer({ kind }: Pick<Principal, "kind">): boolean {
  return kind === "operator" || kind === "admin";
}

/**
 * How much of a bound that all callers share a principal may use: all of it if it is the operator or
 * an admin, else seven eighths. Of two places or more, at least one is reserved.
 */
export function quotaFor(principal: Pick<Principal, "kind">, total: number): number {
  if (isOverseer(principal) || total < 2) return total;
  return total - Math.ceil(total * RESERVED_SHARE);
}
