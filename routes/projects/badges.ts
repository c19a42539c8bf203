import { badgeOf, renderBadge } from "../../services/work/checks/mod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { NotFound } from "../../services/kernel/errors.ts";
import { ApiRoutes } from "../api_routes.ts";
import { z } from "../extended_zod.ts";
import { UNTRUSTED } from "./content_headers.ts";
import { projectErrors } from "./route.ts";
import { specialRoute } from "../special_route.ts";

const getBadge = specialRoute("GET /api/status/{checkin}/badge.svg", {
  operationId: "getBadge",
  summary: "The state of a check-in as a badge: passing, failing, pending or unknown",
  request: {
    params: z.object({
      checkin: z.string().min(1).openapi({
        description: "The check-in: an id, a prefix of one, a branch or a tag",
      }),
    }),
  },
  responses: {
    200: { content: { "image/svg+xml": { schema: z.string() } }, description: "The badge" },
    ...projectErrors(400),
  },
});

/** `/api/status/{checkin}/badge.svg`, which is no operation because it answers with an image. */
export function badgeRoutes({ hosting: { checks } }: Pick<Services, "hosting">) {
  return new ApiRoutes().openapi(getBadge, async (context) => {
    const { project } = context.get("access");
    const name = context.req.valid("param").checkin;
    // A badge in a page must show something even if its check-in is gone.
    const checkin = await checks.resolve(project, name).catch((error) => {
      if (error instanceof NotFound) return null;
      throw error;
    });
    const states = checkin === null ? [] : (await checks.statesOf(project, checkin)).values();
    return context.body(renderBadge(badgeOf(states)), 200, {
      ...UNTRUSTED,
      "Content-Type": "image/svg+xml",
      "Cache-Control": "no-cache, no-store, must-revalidate",
    });
  });
}
