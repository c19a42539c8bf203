import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { Forbidden } from "../../services/errors.ts";
import { writeArray } from "../../services/pieces.ts";
import { actorOf, type Project } from "../../services/projects/mod.ts";
import type { TicketView, TicketWriter } from "../../services/tickets/mod.ts";
import {
  newCommentSchema,
  newTicketSchema,
  ticketChangeSchema,
} from "../../services/tickets/schemas.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { jsonText } from "../json_text.ts";
import { json, jsonRequest } from "../schemas.ts";
import { htmlParameter } from "./html.ts";
import { generationField, generationOf } from "./generation.ts";
import { projectErrors, projectRoute } from "./route.ts";
import { idSchema } from "./schemas.ts";
import { ticketFieldRoutes } from "./ticket_fields.ts";
import { ticketListRoutes } from "./ticket_lists.ts";
import { claimRefusalSchema, commentSchema, ticketSchema } from "./ticket_schemas.ts";

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

const getTicket = projectRoute("GET /api/tickets/{uuid}", {
  summary: "A ticket with its comments and its claim",
  request: {
    params: byId.params,
    query: z.object({
      html: htmlParameter.html,
      comments: z.enum(["true", "false"]).optional().openapi({
        description: 'With "false", the answer has no comments: `/changes` has them in pages',
      }),
    }),
  },
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
  const { hosting: { tickets, claims, texts }, accounts } = services;
  const writerOf = (
    context: Context<AppEnv>,
    { agent_id, generation }: { agent_id?: string | undefined; generation?: number | undefined },
  ): TicketWriter => ({
    caller: callerOf(context),
    actor: actorOf(context.get("access"), agent_id, accounts),
    generation: generationOf(context, generation),
  });
  return newRoutes()
    // A field may be named "strikes", so its route comes before that of strikes.
    .route("/", ticketFieldRoutes(services))
    .route("/", ticketListRoutes(services))
    .openapi(getTicket, async (context) => {
      const { uuid } = context.req.valid("param");
      const { project } = context.get("access");
      const { html, comments } = context.req.valid("query");
      const ticket = shown(await tickets.read(project, uuid, comments !== "false"));
      if (html !== "true") return context.json(ticket, 200);
      const { comments: said, ...rest } = await withHtml(texts, project, ticket);
      const head = JSON.stringify(rest).slice(0, -1);
      return jsonText<z.output<typeof ticketSchema>>(
        context,
        `${head},"comments":${await writeArray(said)}}`,
      );
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

/** The markup of a ticket's description; Fossil has no field for it. */
const BODY_MIMETYPE = "text/x-markdown";

/** A ticket with its description and comments as HTML too. */
async function withHtml(
  texts: Services["hosting"]["texts"],
  project: Project,
  ticket: ReturnType<typeof shown>,
) {
  const { body, comments } = ticket;
  const [body_html = "", ...html] = await texts.htmlOf(project, [
    { text: body, mimetype: BODY_MIMETYPE },
    ...comments.map(({ comment: text, mimetype }) => ({ text, mimetype })),
  ]);
  return {
    ...ticket,
    body_html,
    comments: comments.map((comment, index) => ({ ...comment, comment_html: html[index] ?? "" })),
  };
}
