import { Forbidden } from "../errors.ts";
import { foldCase } from "../irc/mod.ts";
import type { Principal } from "./principal.ts";

/**
 * Who an operation is open to: the operator alone, or also an agent with its own credential, for
 * reading or for writing.
 */
export type Access = "operator" | "agent:read" | "agent:write";

/**
 * Lets a principal through to an operation. The operator may do everything.
 *
 * @throws Forbidden
 */
export function authorize(principal: Principal, access: Access): void {
  if (principal.kind === "operator") return;
  if (principal.kind === "admin" || principal.kind === "project") {
    throw new Forbidden("This credential opens repositories alone, and never a path below /v1/");
  }
  if (access === "operator") throw new Forbidden("Only the operator's API token opens this");
  const scope = access === "agent:read" ? "read" : "write";
  if (!principal.scopes.has(scope)) {
    throw new Forbidden(`This token has no scope "${scope}"`);
  }
}

/**
 * The name under which a principal speaks. The operator may name anybody; everybody else speaks as
 * itself, whether the request says so or not.
 *
 * @param named the name that the request gives, if it gives one
 * @returns the name, or null where the operator gives none
 * @throws Forbidden where somebody else is named
 */
export function speakerName(principal: Principal, named: string | null): string | null {
  if (principal.kind === "operator") return named;
  if (named !== null && foldCase(named) !== foldCase(principal.name)) {
    throw new Forbidden(`You are "${principal.name}" and cannot speak as "${named}"`);
  }
  return principal.name;
}
