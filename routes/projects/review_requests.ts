/** What requests about one review share: its number, and who acts. */
import { generationField } from "../../services/tickets/schemas.ts";
import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { NotFound } from "../../services/errors.ts";
import { actorOf } from "../../services/projects/mod.ts";
import type { ReviewRequest } from "../../services/reviews/mod.ts";
import { actingSchema } from "../../services/reviews/schemas.ts";
import type { AppEnv } from "../context.ts";
import { callerOf } from "../caller.ts";
import { generationOf } from "./generation.ts";

/** The path of a review. Anything but a number is 404. */
export const reviewParams = z.object({
  id: z.string().openapi({ type: "integer", minimum: 1 }),
});

/** The body of a request that ends a review, or lets its workspace land. */
export const endingSchema = actingSchema.extend({ generation: generationField });

/** Determines the actor of a request about a review, from its credential and its body. */
export function reviewRequestOf({ accounts }: Pick<Services, "accounts">) {
  return (
    context: Context<AppEnv>,
    agentId: string | undefined,
    inBody?: number,
  ): ReviewRequest => {
    const access = context.get("access");
    const actor = actorOf(access, agentId, accounts);
    const generation = generationOf(context, inBody);
    return { caller: callerOf(context), actor, isAdmin: access.isAdmin, generation };
  };
}

/** The number of the review in the path. */
export function numberOf(context: Context<AppEnv>): number {
  const text = context.req.param("id") ?? "";
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new NotFound("Review not found");
  return Number(text);
}
