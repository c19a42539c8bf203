import type { Context } from "hono";
import type { Caller } from "../services/people/identity/mod.ts";
import type { AppEnv } from "./environment.ts";

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
