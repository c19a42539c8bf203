import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { TICKET_FIELD_TYPES } from "../../services/fossil/front/mod.ts";
import type { TicketFields } from "../../services/fossil/mod.ts";
import { actorOf } from "../../services/projects/mod.ts";
import type { TicketWriter } from "../../services/tickets/mod.ts";
import { newFieldSchema } from "../../services/tickets/schemas.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { json, jsonRequest } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { projectErrors, projectRoute } from "./route.ts";

const fieldSchema = z.object({ name: z.string(), type: z.enum(TICKET_FIELD_TYPES) })
  .openapi("TicketField");

export const fieldsSchema = z.object({
  ticket: z.array(z.string()).readonly().openapi({ description: "Fields of the ticket" }),
  change: z.array(z.string()).readonly().openapi({
    description: "Fields of each change, such as its comment",
  }),
  custom: z.array(fieldSchema).readonly().openapi({
    description: "Those fields of the ticket that are not built in",
  }),
}).openapi("TicketFieldNames");

const getFields = projectRoute("GET /api/tickets/fields", {
  summary: "The fields of the repository's tickets",
  responses: { 200: json(fieldsSchema, "The fields"), ...notModified, ...projectErrors() },
});

const defineField = projectRoute("POST /api/tickets/fields", {
  summary: "Define a custom field of tickets",
  description: "The field becomes part of the repository's ticket schema, so the `fossil` " +
    "program has it too. Every ticket is made again in the same step. A project can have at " +
    "most 50 custom fields.",
  request: { body: jsonRequest(newFieldSchema, { name: "customer", type: "text" }) },
  responses: { 201: json(fieldSchema, "The field"), ...projectErrors(400, 409, 413) },
});

const removeField = projectRoute("DELETE /api/tickets/fields/{name}", {
  summary: "Remove a custom field of tickets",
  description: "The repository keeps the values: if the field is defined again, they are back.",
  request: { params: z.object({ name: z.string().max(100) }) },
  responses: { 204: { description: "The field is removed" }, ...projectErrors(400, 409) },
});

/** `/api/tickets/fields`. */
export function ticketFieldRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { hosting: { customFields }, accounts } = services;
  const writerOf = (context: Context<AppEnv>): TicketWriter => ({
    caller: callerOf(context),
    actor: actorOf(context.get("access"), undefined, accounts),
  });
  return newRoutes()
    .openapi(
      getFields,
      (context) =>
        answerJson<TicketFields>(context, services, (repository) => repository.ticketFields()),
    )
    .openapi(defineField, async (context) => {
      const field = context.req.valid("json");
      await customFields.define(context.get("access").project, field, writerOf(context));
      return context.json(field, 201);
    })
    .openapi(removeField, async (context) => {
      const { name } = context.req.valid("param");
      await customFields.remove(context.get("access").project, name, writerOf(context));
      return context.body(null, 204);
    });
}
