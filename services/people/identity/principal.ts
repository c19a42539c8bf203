import type { Origin } from "../../engines/events/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { OPERATOR_NAME } from "./names.ts";

/** The scopes of a credential. `admin` includes `write`, and `write` includes `read`. */
export const SCOPES = ["read", "write", "admin", "status:write"] as const;
export type Scope = (typeof SCOPES)[number];

/** The owner of a credential. */
export interface Principal {
  /**
   * `operator` is the holder of the API token, `guest` shows no credential; a `bot` is a part of the
   * program and has none. A `runner` runs checks, each of which is a `job` with a token of its own.
   */
  readonly kind:
    | "operator"
    | "agent"
    | "person"
    | "admin"
    | "project"
    | "runner"
    | "job"
    | "bot"
    | "guest";
  /** Internal id of the account; null for the operator. */
  readonly id: string | null;
  /** Name of the account; `operator` for the API token. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The project that the token of a project or a job is for. */
  readonly project: string | null;
  /** The principal's token; null for the API token, a passphrase and a session. */
  readonly tokenId: string | null;
  /** The principal's session of the web pages, or null. */
  readonly sessionId: string | null;
  /**
   * A further session of an agent, which `name` names; absent for everybody who is the account itself.
   * Rights, quotas and work count under `id`, for all sessions of the agent together.
   */
  readonly agentSession?: {
    /** The internal id under which it speaks and gets messages. */
    readonly id: string;
    /** The name of the agent. */
    readonly agent: string;
  };
}

/** Whether a name is a principal's own: that of its session, or of the agent. */
export function isNameOf({ name, agentSession }: Principal, named: string): boolean {
  const folded = foldCase(named);
  return folded === foldCase(name) ||
    (agentSession !== undefined && folded === foldCase(agentSession.agent));
}

/** The name of a principal's account, which all sessions of an agent share. */
export function accountNameOf(
  { name, agentSession }: Pick<Principal, "name" | "agentSession">,
): string {
  return agentSession?.agent ?? name;
}

/** The internal id under which a principal speaks and gets messages; null if it has no account. */
export function speakerId({ id, agentSession }: Principal): string | null {
  return agentSession?.id ?? id;
}

/** The origin of a call: principal, address and request. Methods that change state take one. */
export interface Caller {
  readonly principal: Principal;
  /** The client's IP address, or null if there is none. */
  readonly address: string | null;
  readonly requestId: string | null;
  /**
   * Checks the credential and the rights once more. Call it after each wait that others can make
   * long, before something is written. Absent where nobody can lose them meanwhile.
   *
   * @throws Unauthorized, Forbidden, and what else the request would be refused with now
   */
  readonly confirm?: () => Promise<void>;
}

/** What names a session of an agent in requests: the client repeats it in each. */
export interface SessionKey {
  readonly id: string;
  /** How long the session may be silent before it counts as ended, in milliseconds. */
  readonly silence: number;
}

/** What a client presents to authenticate itself. */
export type Credential =
  & (
    | { readonly kind: "bearer"; readonly token: string }
    | { readonly kind: "basic"; readonly name: string; readonly password: string }
  )
  & {
    /** The session of an agent in which it calls. */
    readonly session?: SessionKey;
  };

/** The holder of the API token. */
export const OPERATOR: Principal = Object.freeze({
  kind: "operator",
  id: null,
  name: OPERATOR_NAME,
  scopes: new Set(SCOPES),
  project: null,
  tokenId: null,
  sessionId: null,
});

/** A caller without a credential, who may read what is public. */
export const GUEST: Principal = Object.freeze({
  kind: "guest",
  id: null,
  name: "guest",
  scopes: new Set<Scope>(),
  project: null,
  tokenId: null,
  sessionId: null,
});

/** The caller, as named in the event log. */
export function originOf({ principal, address, requestId }: Caller): Origin {
  const { kind, name, id } = principal;
  const actor = kind === "operator" || kind === "guest" ? name : `${kind}:${name}`;
  return { actor, actorId: id, address, cause: requestId };
}

/** An account that acts by a message on IRC, where its login proved it, with all of its rights. */
export function callerOnIrc({ kind, id, name }: Pick<Principal, "kind" | "id" | "name">): Caller {
  const scopes = new Set(["read", "write", "admin"] as const);
  const principal = { kind, id, name, scopes, project: null, tokenId: null, sessionId: null };
  return { principal, address: null, requestId: null };
}

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
