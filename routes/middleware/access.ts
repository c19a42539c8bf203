import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import {
  type Gates,
  requireServerCall,
  type ServerAccess,
} from "../../services/people/identity/mod.ts";
import type { AppEnv } from "../context.ts";

/** What a request may do that others may not. */
export type Exceptions = Omit<ServerAccess, "on" | "isAtPage">;

/** Middleware that checks that the caller may send the request, and checks it again after waits. */
export function allow(access: ServerAccess) {
  const require = (context: Context<AppEnv>) => {
    const gates: Gates = { halts: context.get("halts"), space: context.get("space") };
    requireServerCall(context.req.method, access, context.get("principal"), gates);
  };
  return createMiddleware<AppEnv>((context, next) => {
    require(context);
    context.set("requireAgain", require);
    return next();
  });
}
