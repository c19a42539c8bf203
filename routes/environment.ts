import type { Context } from "hono";
import type { Halts } from "../services/people/agents/mod.ts";
import type { Caller, Credential, Principal, WebSession } from "../services/people/identity/mod.ts";
import type { ServiceError } from "../services/kernel/errors.ts";
import type { FreeSpace } from "../services/kernel/files.ts";
import type { Mark } from "../services/cluster/nodes/mod.ts";
import type { ProjectAccess } from "../services/work/projects/mod.ts";

/** The credential of a principal. */
export interface Proof {
  readonly credential: Credential;
  /** The value of `Identity.endings` at that time. */
  readonly endings: number;
}

/** The values that a request carries through the middleware to its handler. */
export interface AppEnv {
  Bindings: {
    /** The address of the socket. */
    readonly remoteAddress: string;
    /** Call this once the request has shown a valid credential; its connection is then kept. */
    readonly trust?: (principal: Principal) => void;
    /** The mark of the node that forwards the request; absent if it comes from a client. */
    readonly mark?: Mark | null;
    /** Why the request cannot be answered; absent if it can. */
    readonly refusal?: ServiceError | null;
    /** The caller of an item of a batch; absent for every other request. */
    readonly inner?: InnerCaller;
  };
  Variables: {
    requestId: string;
    /** Which agents are halted; set for every request from outside. */
    halts: Pick<Halts, "requireGoing">;
    /** Whether there is room for new work; set for every request. */
    space: Pick<FreeSpace, "require">;
    /** The client's address: the socket's, or the one that a trusted proxy reports. */
    address: string;
    /** Whether the client uses TLS, to us or to a trusted proxy. */
    secure: boolean;
    /** Whether a trusted proxy sent it. */
    isProxied: boolean;
    /** The text of a body that is JSON, once it was read. */
    body: string | undefined;
    /** Set for every path below `/v1/`. */
    principal: Principal;
    /** Set with the principal, unless the request was authenticated by a session's cookie. */
    proof: Proof;
    /** Set if the request was authenticated by a session's cookie. */
    session: WebSession;
    /** Set for every path of the repository API: the project, and the caller's rights in it. */
    access: ProjectAccess;
    /** Proves the request's credential once more. */
    prove: (context: Context<AppEnv>) => Promise<void> | null;
    /** Looks once more what the caller may do in the project; set where `access` is. */
    enterAgain: (context: Context<AppEnv>) => void;
    /** Makes the checks of the route once more, with the rights that are set now. */
    requireAgain: (context: Context<AppEnv>) => void;
  };
}

/** The caller of an item of a batch. */
export type InnerCaller = Pick<
  AppEnv["Variables"],
  "requestId" | "address" | "secure" | "principal" | "access" | "prove"
>;

/** The values of a request that are set only by some of its middleware. */
type Checks = Partial<Pick<AppEnv["Variables"], "prove" | "enterAgain" | "requireAgain">>;

/** The origin of a request: principal, address and request id. */
export function callerOf(context: Context<AppEnv>): Caller {
  return {
    principal: context.get("principal"),
    address: context.get("address"),
    requestId: context.get("requestId"),
    confirm: () => confirm(context),
  };
}

/**
 * Makes the checks of a request once more after a wait, such as that for its body or its turn: the
 * caller may have lost the credential or the right meanwhile, and the project may be archived.
 *
 * @throws what the checks before the wait throw
 */
export async function confirm(context: Context<AppEnv>): Promise<void> {
  const { prove, enterAgain, requireAgain }: Checks = context.var;
  await prove?.(context);
  enterAgain?.(context);
  requireAgain?.(context);
}
