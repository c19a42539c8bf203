import type { Context } from "hono";
import type { Credential, Principal, WebSession } from "../services/identity/mod.ts";
import type { ProjectAccess } from "../services/projects/mod.ts";

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
    readonly trust?: () => void;
    /** The batch to which the request belongs: it has the caller's rights. */
    readonly batch?: Context<AppEnv>;
  };
  Variables: {
    requestId: string;
    /** The client's address: the socket's, or the one that a trusted proxy reports. */
    address: string;
    /** Whether the client uses TLS, to us or to a trusted proxy. */
    secure: boolean;
    /** Set for every path below `/v1/`. */
    principal: Principal;
    /** Set with the principal, unless the request was authenticated by a session's cookie. */
    proof: Proof;
    /** Set if the request was authenticated by a session's cookie. */
    session: WebSession;
    /** Set for every path of the repository API: the project, and the caller's rights in it. */
    access: ProjectAccess;
  };
}
