import type { FreeSpace } from "../../kernel/files.ts";
import { authorize, type Resource } from "./permissions.ts";
import type { Principal } from "./principal.ts";

/** What sets a call on the server apart, as far as it decides who may make it. */
export interface ServerAccess {
  /** What it acts on: GET needs the right to read it, every other method the right to write it. */
  readonly on: Exclude<Resource["kind"], "project">;
  readonly whileHalted?: boolean;
  readonly whileFull?: boolean;
  /** Whether a web page makes it, where a session has the rights of its account. */
  readonly isAtPage?: boolean;
}

/** What refuses changes. */
export interface Gates {
  readonly halts: {
    /** @throws Halted if the principal is a halted agent */
    requireGoing(principal: Principal): void;
  };
  readonly space: Pick<FreeSpace, "require">;
}

const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Checks that a principal may make a call now.
 *
 * @param method its method over HTTP: GET and HEAD change nothing
 * @throws Forbidden; Halted; Unavailable if the disk is nearly full
 */
export function requireServerCall(
  method: string,
  { on, whileHalted = false, whileFull = false, isAtPage = false }: ServerAccess,
  principal: Principal,
  { halts, space }: Gates,
): void {
  const isWrite = !READING.has(method);
  authorize(principal, isWrite ? "write" : "read", { kind: on, isAtPage });
  if (isWrite && !whileHalted) halts.requireGoing(principal);
  if (isWrite && !whileFull && method !== "DELETE") space.require();
}
