import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Services } from "../../services/daemon/mod.ts";
import { Forbidden } from "../../services/errors.ts";
import type { TicketFields } from "../../services/fossil/mod.ts";
import { actorOf } from "../../services/projects/mod.ts";
import {
  newCommentSchema,
  newTicketSchema,
  ticketChangeSchema,
  type TicketView,
  type TicketWriter,
} from "../../services/tickets/mod.ts";
import { type AppEnv, callerOf } from "../context.ts";
import { json, jsonRequest } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { newProjectRoutes } from "./context.ts";
import { generationField, generationOf } from "./generation.ts";
import { boundedNumber, pageFields, pageOf, pageParameters, rangeOf } from "./paging.ts";
import { projectErrors, projectRoute } from "./route.ts";
import { idSchema } from "./schemas.ts";
import {
  claimRefusalSchema,
  commentSchema,
  ticketRefSchema,
  ticketSchema,
} from "./ticket_schemas.ts";

const byId = { params: z.object({ uuid: idSchema }) };

/** Fields of a request beside those of the ticket: in whose name, and under which claim. */
const writing = {
  agent_id: z.string().optional().openapi({
    description: "In whose name to act; by default, your own. Only admins may name somebody else",
  }),
  generation: generationField,
};

const refused = json(
  claimRefusalSchema,
  "Refused because of the ticket's claim or the state of the project",
);

const ticketListSchema = z.object({
  tickets: z.array(ticketRefSchema).readonly(),
  total: pageFields.total,
  page: pageFields.page,
  per_page: pageFields.per_page,
  total_pages: pageFields.total_pages,
}).openapi("TicketList");

const listTickets = projectRoute("GET /api/tickets", {
  summary: "Tickets, newest first",
  request: {
    query: z.object({
      page: pageParameters.page,
      per_page: pageParameters.per_page,
      status: z.string().optional().openapi({ description: "Only tickets of exactly this status" }),
    }),
  },
  responses: {
    200: json(ticketListSchema, "A page of tickets"),
    ...notModified,
    ...projectErrors(400),
  },
});

const listUnclaimed = projectRoute("GET /api/tickets/unclaimed", {
  summary: "Tickets that an agent can claim, newest first",
  request: {
    query: z.object({
      status: z.string().optional().openapi({
        description: "Only tickets of this status, Open by default; empty for every status",
      }),
      limit: boundedNumber("Most tickets to list, at most 200", 50, 200),
    }),
  },
  responses: {
    200: json(
      z.object({
        tickets: z.array(ticketRefSchema).readonly(),
        total: z.int().openapi({ description: "All such tickets, also beyond the limit" }),
      }).openapi("UnclaimedTickets"),
      "Tickets that nobody holds, and that do not wait for a person",
    ),
    ...projectErrors(400),
  },
});

const listStruck = projectRoute("GET /api/tickets/struck", {
  summary: "Tickets that wait for a person because too many of their claims ended without a result",
  request: { query: z.object(pageParameters) },
  responses: {
    200: json(
      z.object({
        tickets: z.array(ticketRefSchema.extend({ strikes: z.int() })).readonly(),
        total: pageFields.total,
        page: pageFields.page,
        per_page: pageFields.per_page,
        total_pages: pageFields.total_pages,
      }).openapi("StruckTickets"),
      "A page of tickets",
    ),
    ...projectErrors(400),
  },
});

const getFields = projectRoute("GET /api/tickets/fields", {
  summary: "The fields of the repository's tickets",
  responses: {
    200: json(
      z.object({
        ticket: z.array(z.string()).readonly().openapi({ description: "Fields of the ticket" }),
        change: z.array(z.string()).readonly().openapi({
          description: "Fields of each change, such as its comment",
        }),
      }).openapi("TicketFields"),
      "The names of the fields",
    ),
    ...notModified,
    ...projectErrors(),
  },
});

const getTicket = projectRoute("GET /api/tickets/{uuid}", {
  summary: "A ticket with its comments and its claim",
  request: byId,
  responses: { 200: json(ticketSchema, "The ticket"), ...projectErrors(400) },
});

const createTicket = projectRoute("POST /api/tickets", {
  summary: "Make a ticket",
  request: {
    body: jsonRequest(newTicketSchema.extend({ agent_id: writing.agent_id }), {
      title: "The parser crashes on an empty line",
      comment: "Send an empty line to port 6667.",
      type: "Code_Defect",
      severity: "Important",
    }),
  },
  responses: {
    201: json(ticketSchema, "The ticket"),
    ...projectErrors(400, 409, 413),
  },
});

const changeTicket = projectRoute("PATCH /api/tickets/{uuid}", {
  summary: "Change a ticket's fields, and add a comment in the same step",
  request: {
    params: byId.params,
    body: jsonRequest(ticketChangeSchema.extend(writing), {
      status: "Closed",
      resolution: "Fixed",
      comment: "Empty lines are skipped now.",
    }),
  },
  responses: { 200: json(ticketSchema, "The ticket"), ...projectErrors(400, 413), 409: refused },
});

const addComment = projectRoute("POST /api/tickets/{uuid}/comments", {
  summary: "Comment on a ticket",
  request: {
    params: byId.params,
    body: jsonRequest(newCommentSchema.extend(writing), { comment: "It happens on Windows too." }),
  },
  responses: {
    201: json(commentSchema.extend({ ticket_uuid: z.string() }), "The comment"),
    ...projectErrors(400, 413),
    409: refused,
  },
});

const forgetStrikes = projectRoute("DELETE /api/tickets/{uuid}/strikes", {
  summary: "Reset a ticket's strikes, so that agents can claim it again",
  request: byId,
  responses: { 204: { description: "The strikes are reset" }, ...projectErrors(400, 409) },
});

/** `/api/tickets…`, without claims. */
export function ticketRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { hosting: { tickets, claims }, accounts } = services;
  const writerOf = (
    context: Context<AppEnv>,
    { agent_id, generation }: { agent_id?: string | undefined; generation?: number | undefined },
  ): TicketWriter => ({
    caller: callerOf(context),
    actor: actorOf(context.get("access"), agent_id, accounts),
    generation: generationOf(context, generation),
  });
  return newProjectRoutes()
    .openapi(listTickets, (context) => {
      const { status, page, per_page } = context.req.valid("query");
      const asked = { page, per_page };
      const { limit, offset } = rangeOf(asked);
      return answerJson<z.infer<typeof ticketListSchema>>(context, services, async (repository) => {
        const filter = status === undefined || status === "" ? {} : { status };
        const { tickets, total } = await repository.tickets({ limit, offset, ...filter });
        return Object.assign(pageOf(asked, total), { tickets });
      });
    })
    .openapi(listUnclaimed, async (context) => {
      const { status = "Open", limit } = context.req.valid("query");
      const { project } = context.get("access");
      const { tickets, total } = await claims.unclaimed(project, {
        limit,
        status: status || undefined,
      });
      return context.json({ tickets, total }, 200);
    })
    .openapi(listStruck, async (context) => {
      const asked = context.req.valid("query");
      const found = await tickets.struck(context.get("access").project, rangeOf(asked));
      return context.json(
        Object.assign(pageOf(asked, found.total), { tickets: found.tickets }),
        200,
      );
    })
    .openapi(
      getFields,
      (context) =>
        answerJson<TicketFields>(context, services, (repository) => repository.ticketFields()),
    )
    .openapi(getTicket, async (context) => {
      const { uuid } = context.req.valid("param");
      return context.json(shown(await tickets.read(context.get("access").project, uuid)), 200);
    })
    .openapi(createTicket, async (context) => {
      const { agent_id, ...request } = context.req.valid("json");
      const { project } = context.get("access");
      const writer = writerOf(context, { agent_id });
      return context.json(shown(await tickets.create(project, request, writer)), 201);
    })
    .openapi(changeTicket, async (context) => {
      const { agent_id, generation, ...change } = context.req.valid("json");
      const { uuid } = context.req.valid("param");
      const { project } = context.get("access");
      const writer = writerOf(context, { agent_id, generation });
      return context.json(shown(await tickets.change(project, uuid, change, writer)), 200);
    })
    .openapi(addComment, async (context) => {
      const { agent_id, generation, ...comment } = context.req.valid("json");
      const { uuid } = context.req.valid("param");
      const { project } = context.get("access");
      const writer = writerOf(context, { agent_id, generation });
      return context.json(await tickets.comment(project, uuid, comment, writer), 201);
    })
    .openapi(forgetStrikes, async (context) => {
      const { project, principal, isAdmin } = context.get("access");
      if (principal.kind === "agent" && !isAdmin) {
        throw new Forbidden("The ticket waits for a person: an agent cannot reset its strikes");
      }
      const { uuid } = await tickets.resolve(project, context.req.valid("param").uuid);
      await claims.forgetStrikes(project, uuid, callerOf(context));
      return context.body(null, 204);
    });
}

/** A ticket as the API shows it, without its changes, which are in the timeline. */
function shown({ changes: _, ...ticket }: TicketView) {
  return ticket;
}
