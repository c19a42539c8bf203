import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { Invalid } from "../../services/errors.ts";
import { TICKET_ORDERS } from "../../services/fossil/front/mod.ts";
import { newRoutes } from "../context.ts";
import { json } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { boundedNumber, pageFields, pageOf, pageParameters, rangeOf } from "./paging.ts";
import { projectErrors, projectRoute } from "./route.ts";
import { idSchema } from "./schemas.ts";
import { ticketChangesSchema, ticketRefSchema } from "./ticket_schemas.ts";

export const ticketListSchema = z.object({
  tickets: z.array(ticketRefSchema).readonly(),
  statuses: z.array(z.object({
    name: z.string(),
    count: z.int(),
    is_closed: z.boolean().openapi({ description: "Whether the status closes a ticket" }),
  })).readonly().openapi({
    description:
      "The tickets that match the other conditions, by status: the 100 most frequent ones",
  }),
  total: pageFields.total,
  page: pageFields.page,
  per_page: pageFields.per_page,
  total_pages: pageFields.total_pages,
}).openapi("TicketList");

export const unclaimedSchema = z.object({
  tickets: z.array(ticketRefSchema).readonly(),
  total: z.int().openapi({ description: "All such tickets, also beyond the limit" }),
}).openapi("UnclaimedTickets");

/** A filter by a built-in field of tickets. */
function exactly(field: string) {
  return z.string().max(200).optional().openapi({ description: `Only tickets of this ${field}` });
}

const listTickets = projectRoute("GET /api/tickets", {
  summary: "Tickets: filtered, searched and sorted; newest first by default",
  request: {
    query: z.object({
      page: pageParameters.page,
      per_page: pageParameters.per_page,
      status: z.string().optional().openapi({ description: "Only tickets of exactly this status" }),
      state: z.enum(["open", "closed"], { error: 'must be "open" or "closed"' }).optional().openapi(
        {
          description: "Only open or only closed tickets, by the repository's own words",
        },
      ),
      type: exactly("type"),
      priority: exactly("priority"),
      severity: exactly("severity"),
      subsystem: exactly("subsystem"),
      search: z.string().max(200).optional().openapi({
        description: "Only tickets with every word of this text in the title or at the start of " +
          "the id",
      }),
      sort: z.enum(TICKET_ORDERS, { error: `must be one of ${TICKET_ORDERS.join(", ")}` })
        .optional().openapi({
          description: "`created` and `modified`: newest first; `priority` and `severity`: most " +
            "urgent first. By default, `created`",
        }),
      reverse: z.enum(["true", "false"]).optional().openapi({
        description: "Whether the order is reversed",
      }),
      field: z.string().max(100).optional().openapi({
        description: "Only tickets with the given `value` in this field of the ticket",
      }),
      value: z.string().max(1000).optional().openapi({
        description: "The exact value; without it, tickets in which the field is empty",
      }),
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
      offset: boundedNumber("How many tickets to skip", 0, 1_000_000, 0),
    }),
  },
  responses: {
    200: json(
      unclaimedSchema,
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

const listChanges = projectRoute("GET /api/tickets/{uuid}/changes", {
  summary: "Who changed a ticket, newest first",
  request: { params: z.object({ uuid: idSchema }), query: z.object(pageParameters) },
  responses: {
    200: json(ticketChangesSchema, "A page of changes"),
    ...notModified,
    ...projectErrors(400),
  },
});

/** `/api/tickets`, `/api/tickets/unclaimed`, `/struck` and changes. */
export function ticketListRoutes(services: Pick<Services, "hosting">) {
  const { tickets, claims } = services.hosting;
  return newRoutes()
    .openapi(listTickets, (context) => {
      const { status, field: name, value, page, per_page, reverse, ...conditions } = context.req
        .valid("query");
      if (name === undefined && value !== undefined) {
        throw new Invalid("The parameter `value` needs a `field`");
      }
      const asked = { page, per_page };
      const { limit, offset } = rangeOf(asked);
      return answerJson<z.infer<typeof ticketListSchema>>(context, services, async (repository) => {
        const filter = {
          ...given(conditions),
          ...(status === undefined || status === "" ? {} : { status }),
          ...(name === undefined ? {} : { field: { name, value: value ?? "" } }),
          isReversed: reverse === "true",
        };
        const { tickets, total, statuses } = await repository.tickets({ limit, offset, ...filter });
        return Object.assign(pageOf(asked, total), { tickets, statuses });
      });
    })
    .openapi(listUnclaimed, async (context) => {
      const { status = "Open", limit, offset } = context.req.valid("query");
      const { project } = context.get("access");
      const { tickets, total } = await claims.unclaimed(project, {
        limit,
        offset,
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
    .openapi(listChanges, (context) => {
      const { uuid: id } = context.req.valid("param");
      const page = context.req.valid("query");
      type Answer = z.infer<typeof ticketChangesSchema>;
      return answerJson<Answer>(context, services, async (repository) => {
        const { ticket, changes, total } = await repository.ticketChanges({
          id,
          ...rangeOf(page),
        });
        return Object.assign({ ticket, changes }, pageOf(page, total));
      });
    });
}

/** The fields of an object that have a value. */
function given<Fields extends object>(fields: Fields) {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
}
