import type { Context } from "hono";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Caller, Credential, Principal, WebSession } from "../services/identity/mod.ts";
import type { ProjectAccess } from "../services/projects/mod.ts";
import { invalidRequest } from "./middleware/errors.ts";

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

/** Creates an empty application, to which a group adds its routes. */
export function newRoutes(): OpenAPIHono<AppEnv> {
  return new OpenAPIHono<AppEnv>({ strict: false, defaultHook: invalidRequest });
}

/** The origin of a request: principal, address and request id. */
export function callerOf(context: Context<AppEnv>): Caller {
  return {
    principal: context.get("principal"),
    address: context.get("address"),
    requestId: context.get("requestId"),
  };
}
