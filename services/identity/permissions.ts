import { Forbidden } from "../errors.ts";
import { foldCase } from "../irc/mod.ts";
import type { Principal } from "./principal.ts";

/**
 * Who an operation is open to: the operator and admins alone, or also an agent with its own
 * credential, for reading or for writing.
 */
export type Access = "operator" | "agent:read" | "agent:write";

/**
 * Lets a principal through to an operation. The operator may do everything, and so may an admin with
 * a token of scope `admin`. An admin's token with `read` alone reads everything.
 *
 * @param readOnly whether the operation changes nothing, as a GET
 * @throws Forbidden
 */
export function authorize(
  principal: Principal,
  access: Access,
  { readOnly = access === "agent:read" }: { readonly readOnly?: boolean } = {},
): void {
  if (principal.kind === "operator") return;
  if (principal.kind === "admin") return authorizeAdmin(principal, readOnly);
  if (principal.kind === "project") {
    throw new Forbidden("This credential opens repositories alone, and never a path below /v1/");
  }
  if (access === "operator") {
    throw new Forbidden("Only the operator's API token and admins' tokens open this");
  }
  const scope = access === "agent:read" ? "read" : "write";
  if (!principal.scopes.has(scope)) {
    throw new Forbidden(`This token has no scope "${scope}"`);
  }
}

function authorizeAdmin({ scopes, tokenId }: Principal, readOnly: boolean): void {
  if (tokenId === null) {
    throw new Forbidden("A session opens the web pages, and never a path below /v1/");
  }
  const scope = readOnly ? "read" : "admin";
  if (!scopes.has(scope)) throw new Forbidden(`This token has no scope "${scope}"`);
}

/**
 * The name under which a principal speaks. The operator and admins may name anybody; an agent speaks
 * as itself, whether the request says so or not.
 *
 * @param named the name that the request gives, if it gives one
 * @returns the name, or null where the operator gives none
 * @throws Forbidden where somebody else is named
 */
export function speakerName(principal: Principal, named: string | null): string | null {
  if (principal.kind === "operator") return named;
  if (principal.kind === "admin") return named ?? principal.name;
  if (named !== null && foldCase(named) !== foldCase(principal.name)) {
    throw new Forbidden(`You are "${principal.name}" and cannot speak as "${named}"`);
  }
  return principal.name;
}
