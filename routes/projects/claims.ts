import { z } from "../extended_zod.ts";
import { trimmedLineSchema } from "../../services/validation/schemas.ts";
import type { Context } from "hono";
import type { Services } from "../../services/daemon/mod.ts";
import { actorOf } from "../../services/projects/mod.ts";
import { isoOf, viewOfClaim } from "../../services/tickets/mod.ts";
import { submissionSchema } from "../../services/tickets/schemas.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { optionalBody } from "../middleware/body.ts";
import { json, jsonRequest, optionalJsonRequest } from "../schemas.ts";
import { generationField, generationOf } from "./generation.ts";
import { pageFields, pageOf, pageParameters, rangeOf } from "./paging.ts";
import { projectErrors, projectRoute } from "./route.ts";
import { idSchema, timestampSchema } from "./schemas.ts";
import { claimRefusalSchema, claimSchema, tooManyClaimsSchema } from "./ticket_schemas.ts";

const params = z.object({ uuid: idSchema });

const acting = z.object({
  agent_id: z.string().max(200, { error: "must have at most 200 characters" }).optional().openapi({
    description: "Who claims the ticket; by default, you. Only admins may name somebody else",
  }),
  generation: generationField,
});

const refused = json(
  claimRefusalSchema,
  "Refused because of the ticket's claim or the state of the project",
);

export const claimListSchema = z.object({
  claims: z.array(claimSchema).readonly(),
  total: pageFields.total,
  page: pageFields.page,
  per_page: pageFields.per_page,
  total_pages: pageFields.total_pages,
}).openapi("ClaimList");

export const releasedSchema = claimSchema.extend({ released_at: timestampSchema })
  .openapi("ReleasedClaim");

/** Other services add fields, such as the number of the review. */
export const submittedSchema = claimSchema.extend({
  summary: z.string(),
  files_changed: z.array(z.string()).readonly(),
}).loose().openapi("SubmittedClaim");

const listClaims = projectRoute("GET /api/claims", {
  summary: "Active claims: who holds which ticket",
  request: {
    query: z.object({
      page: pageParameters.page,
      per_page: pageParameters.per_page,
      agent_id: z.string().optional().openapi({ description: "Only the claims of this holder" }),
    }),
  },
  responses: {
    200: json(
      claimListSchema,
      "A page of claims, oldest first",
    ),
    ...projectErrors(400),
  },
});

const claimTicket = projectRoute("POST /api/tickets/{uuid}/claim", {
  summary: "Claim a ticket for yourself, or renew your claim",
  request: {
    params,
    body: optionalJsonRequest(
      acting.extend({
        workspace: trimmedLineSchema(0, 200).optional().openapi({
          description: "The workspace in which you will work",
        }),
      }),
      { agent_id: "builder" },
    ),
  },
  responses: {
    201: json(claimSchema, "The ticket is yours"),
    200: json(
      claimSchema.extend({ message: z.string() }),
      "It was already yours; the lease is renewed",
    ),
    ...projectErrors(400, 413),
    409: refused,
    429: json(tooManyClaimsSchema, "Refused because the agent holds too many claims"),
  },
}, optionalBody());

const releaseTicket = projectRoute("POST /api/tickets/{uuid}/release", {
  summary: "Release a ticket without a result; an admin can end anybody's claim",
  request: {
    params,
    body: optionalJsonRequest(acting, {}),
  },
  responses: {
    200: json(
      releasedSchema,
      "Nobody holds the ticket",
    ),
    ...projectErrors(400, 413),
    409: refused,
  },
}, optionalBody());

const submitTicket = projectRoute("POST /api/tickets/{uuid}/submit", {
  summary: "Submit your work: adds a comment, sets the status to Review, and ends the claim",
  request: {
    params,
    body: jsonRequest(submissionSchema.extend(acting.shape), {
      summary: "Empty lines are skipped.",
      workspace: "fix-parser",
    }),
  },
  responses: {
    200: json(
      submittedSchema,
      "The work is submitted and the claim has ended",
    ),
    ...projectErrors(400, 413),
    409: refused,
  },
});

/** `/api/claims`, and claim, release and submit of a ticket. */
export function claimRoutes(
  { hosting: { tickets, claims, submissions }, accounts }: Pick<Services, "hosting" | "accounts">,
) {
  const writerOf = (
    context: Context<AppEnv>,
    { agent_id, generation }: z.infer<typeof acting>,
  ) => ({
    caller: callerOf(context),
    actor: actorOf(context.get("access"), agent_id, accounts),
    generation: generationOf(context, generation),
  });
  return newRoutes()
    .openapi(listClaims, (context) => {
      const { page, per_page, agent_id } = context.req.valid("query");
      const asked = { page, per_page };
      const { limit, offset } = rangeOf(asked);
      const found = claims.list(context.get("access").project, agent_id);
      const shown = found.slice(offset, offset + limit).map(viewOfClaim);
      return context.json(Object.assign(pageOf(asked, found.length), { claims: shown }), 200);
    })
    .openapi(claimTicket, async (context) => {
      const body = context.req.valid("json");
      const { project } = context.get("access");
      const writer = writerOf(context, body);
      const id = context.req.valid("param").uuid;
      const ticket = await tickets.resolve(project, id, "Ticket not found in repository");
      const { workspace } = body;
      const { caller, actor, generation } = writer;
      const request = { caller, actor, generation, workspace: workspace || undefined };
      const { claim, isNew } = await claims.claim(project, ticket, request);
      const view = viewOfClaim(claim);
      return isNew
        ? context.json(view, 201)
        : context.json(Object.assign(view, { message: "Already claimed by you" }), 200);
    })
    .openapi(releaseTicket, async (context) => {
      const body = context.req.valid("json");
      const { project, isAdmin } = context.get("access");
      const { caller, actor, generation } = writerOf(context, body);
      const id = context.req.valid("param").uuid;
      const ticket = await tickets.resolve(project, id, "No active claim for this ticket");
      const request = { caller, actor, generation, isAdmin };
      const claim = await claims.release(project, ticket.uuid, request);
      const released_at = isoOf(claim.endedAt ?? claim.expiresAt);
      const view = viewOfClaim(claim);
      return context.json(Object.assign(view, { status: "released", released_at }), 200);
    })
    .openapi(submitTicket, async (context) => {
      const { agent_id, generation, ...work } = context.req.valid("json");
      const { project } = context.get("access");
      const writer = writerOf(context, { agent_id, generation });
      const id = context.req.valid("param").uuid;
      const { claim, answer } = await submissions.submit(project, id, work, writer);
      const { summary, files_changed } = work;
      return context.json(
        Object.assign(viewOfClaim(claim), { summary, files_changed }, answer),
        200,
      );
    });
}
