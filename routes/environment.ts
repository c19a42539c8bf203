import type { Context } from "hono";
import type { Credential, Principal, WebSession } from "../services/identity/mod.ts";
import type { ProjectAccess } from "../services/projects/mod.ts";

/** What a principal was authenticated by. */
export interface Proof {
  readonly credential: Credential;
  /** How many credentials had ended by then, as `Identity.endings` counts them. */
  readonly endings: number;
}

/** What a request carries through the middleware to its handler. */
export interface AppEnv {
  Bindings: {
    /** The address of the socket. */
    readonly remoteAddress: string;
    /** Call this once the request has shown a valid credential; its connection is then kept. */
    readonly trust?: () => void;
    /** The batch that the request is an item of: it has the caller's rights. */
    readonly batch?: Context<AppEnv>;
  };
  Variables: {
    requestId: string;
    /** The client's address: the socket's, or what a trusted proxy says. */
    address: string;
    /** Whether the client came over TLS, to us or to a trusted proxy. */
    secure: boolean;
    /** Set for every path below `/v1/`. */
    principal: Principal;
    /** Set with the principal, unless the request came by a session's cookie. */
    proof: Proof;
    /** Set where the request came by a session's cookie. */
    session: WebSession;
    /** Set for every path of the repository API: the project, and what the caller may do in it. */
    access: ProjectAccess;
  };
}
