import { wholeNumber } from "../../services/validation/schemas.ts";
import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { WebhookOwner } from "../../services/webhooks/mod.ts";
import { newWebhookSchema, webhookChangeSchema } from "../../services/webhooks/schemas.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import type { RouteAccess } from "../access.ts";
import { type Description, tableRoute } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";
import { projectAccess, projectErrors } from "./route.ts";

/** Most deliveries in one answer, and the default. */
const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 25;

const time = z.iso.datetime();
export const webhookSchema = z.object({
  id: z.string(),
  project: z.string().nullable().openapi({ description: "Its slug; null for all projects" }),
  url: z.string(),
  types: z.array(z.string()).readonly().openapi({ description: "Names of events; empty for all" }),
  active: z.boolean(),
  failing_since: time.nullable().openapi({
    description: "Since when deliveries fail; after five days the webhook is disabled",
  }),
  created_at: time,
}).openapi("Webhook");

export const issuedSchema = webhookSchema.extend({
  secret: z.string().openapi({ description: "Shown only here", example: "whsec_MfKQ9r8G..." }),
}).openapi("IssuedWebhook");

export const deliverySchema = z.object({
  id: z.string(),
  type: z.string(),
  event: z.int().nullable().openapi({ description: "Number of the event; null for a ping" }),
  status: z.enum(["pending", "delivered", "failed"]),
  attempts: z.int(),
  next_attempt_at: time.nullable(),
  response_status: z.int().nullable(),
  error: z.string().nullable(),
  milliseconds: z.int().nullable().openapi({ description: "How long the last attempt took" }),
  created_at: time,
  finished_at: time.nullable(),
}).openapi("WebhookDelivery");

const wholeDeliverySchema = deliverySchema.extend({
  body: z.string().openapi({ description: "The posted body" }),
}).openapi("WholeWebhookDelivery");

/** Where webhooks are managed. */
type Base = "/v1/projects/{slug}/webhooks" | "/v1/webhooks" | "/api/webhooks";

/** The endpoints of webhooks below a path, as the tables of routes name them. */
type WebhookEndpoint<Prefix extends Base> =
  | `${"GET" | "POST"} ${Prefix}`
  | `${"GET" | "PATCH" | "DELETE"} ${Prefix}/{id}`
  | `POST ${Prefix}/{id}/${"rotate" | "ping"}`
  | `GET ${Prefix}/{id}/deliveries`
  | `GET ${Prefix}/{id}/deliveries/{delivery}`
  | `POST ${Prefix}/{id}/deliveries/{delivery}/redeliver`;

/** A path below which webhooks are managed. */
export interface WebhookPlace<Prefix extends Base> {
  readonly base: Prefix;
  /** Who reaches an endpoint. */
  readonly accessOf: (endpoint: WebhookEndpoint<Prefix>) => RouteAccess;
  /**
   * Whose webhooks a request is about.
   *
   * @throws NotFound
   */
  readonly ownerOf: (context: Context<AppEnv>) => WebhookOwner;
}

/** What the paths name, whose webhooks they are about, and what any request may be answered. */
function partsOf(base: Base) {
  const isInProject = base === "/api/webhooks";
  const read: ReturnType<typeof errors<404>> = isInProject ? projectErrors() : errors(404);
  const written: ReturnType<typeof errors<404 | 503>> = isInProject
    ? projectErrors(409)
    : errors(404, 503);
  const inProject = base === "/v1/projects/{slug}/webhooks" ? { slug: z.string() } : {};
  return {
    all: { params: z.object(inProject) },
    one: { params: z.object({ ...inProject, id: z.string() }) },
    delivery: { params: z.object({ ...inProject, id: z.string(), delivery: z.string() }) },
    whose: base === "/v1/webhooks" ? "all projects" : "a project",
    read,
    written,
  };
}

/** Makes the routes of a place, which differ only in who reaches them. */
function makerOf<Name extends string>(accessOf: (name: Name) => RouteAccess) {
  return <One extends Name, Described extends Description>(name: One, description: Described) =>
    tableRoute(name, description, accessOf(name));
}

/** The routes of webhooks below one path. */
function routesOf<Prefix extends Base>({ base, accessOf }: Omit<WebhookPlace<Prefix>, "ownerOf">) {
  const { all, one, whose, read, written } = partsOf(base);
  const route = makerOf(accessOf);
  return {
    list: route(`GET ${base}`, {
      summary: `List the webhooks of ${whose}`,
      request: all,
      responses: { 200: json(z.array(webhookSchema).readonly(), "The webhooks"), ...read },
    }),
    create: route(`POST ${base}`, {
      summary: `Make a webhook of ${whose}`,
      description: "Events are posted as JSON, `{type, timestamp, data}`, with the names and " +
        "fields of `GET /api/events`, and signed according to Standard Webhooks. Any status " +
        "but 2xx is a failure, redirects included; nine more attempts follow in three days. 410 " +
        "disables the webhook. Local and private addresses are never reached unless " +
        "`webhooks.allow_private` is set. At most 50.",
      request: {
        ...all,
        body: jsonRequest(newWebhookSchema.meta({ id: "WebhookRequest" }), {
          url: "https://ci.example/hooks/muster",
          types: ["checkin", "review"],
        }),
      },
      responses: { 201: json(issuedSchema, "The webhook"), ...written, ...errors(400, 409, 413) },
    }),
    show: route(`GET ${base}/{id}`, {
      summary: `Show a webhook of ${whose}`,
      request: one,
      responses: { 200: json(webhookSchema, "The webhook"), ...read },
    }),
    change: route(`PATCH ${base}/{id}`, {
      summary: `Change a webhook of ${whose}, or turn it on or off`,
      request: {
        ...one,
        body: jsonRequest(webhookChangeSchema.meta({ id: "WebhookChange" }), { active: true }),
      },
      responses: { 200: json(webhookSchema, "The webhook"), ...written, ...errors(400, 413) },
    }),
    remove: route(`DELETE ${base}/{id}`, {
      summary: `Remove a webhook of ${whose}, with its deliveries`,
      request: one,
      responses: { 204: { description: "Removed" }, ...written },
    }),
    rotate: route(`POST ${base}/{id}/rotate`, {
      summary: `Give a webhook of ${whose} a new secret; the old one also signs for a day`,
      request: one,
      responses: { 200: json(issuedSchema, "The webhook"), ...written },
    }),
  };
}

/** The routes of what webhooks sent, below one path. */
function deliveryRoutesOf<Prefix extends Base>(
  { base, accessOf }: Omit<WebhookPlace<Prefix>, "ownerOf">,
) {
  const { one, delivery, whose, read, written } = partsOf(base);
  const route = makerOf(accessOf);
  return {
    ping: route(`POST ${base}/{id}/ping`, {
      summary: `Send a test delivery to a webhook of ${whose}`,
      request: one,
      responses: { 202: json(deliverySchema, "Queued for delivery"), ...written, ...errors(409) },
    }),
    deliveries: route(`GET ${base}/{id}/deliveries`, {
      summary: `List the deliveries of a webhook of ${whose}, newest first`,
      request: {
        ...one,
        query: z.object({
          limit: wholeNumber(`Most deliveries; ${DEFAULT_LIMIT} by default`, 1, MAX_LIMIT),
          before: z.string().optional().openapi({
            description: "Only deliveries older than this one, by its id",
          }),
        }),
      },
      responses: {
        200: json(
          z.array(deliverySchema),
          "The deliveries; the newest 1,000 finished ones are kept",
        ),
        ...read,
        ...errors(400),
      },
    }),
    delivery: route(`GET ${base}/{id}/deliveries/{delivery}`, {
      summary: `Show a delivery of a webhook of ${whose}`,
      request: delivery,
      responses: { 200: json(wholeDeliverySchema, "The delivery"), ...read },
    }),
    redeliver: route(`POST ${base}/{id}/deliveries/{delivery}/redeliver`, {
      summary: `Send a delivery of a webhook of ${whose} again, under the same id`,
      request: delivery,
      responses: { 202: json(deliverySchema, "Queued for delivery"), ...written, ...errors(409) },
    }),
  };
}

/** The routes of webhooks below a path. */
export function webhooksBelow<Prefix extends Base>(
  { ownerOf, ...place }: WebhookPlace<Prefix>,
  { webhooks }: Services["hosting"],
) {
  const routes = { ...routesOf(place), ...deliveryRoutesOf(place) };
  const { deliveries } = webhooks;
  return newRoutes()
    .openapi(
      routes.list,
      (context) => context.json(webhooks.list(ownerOf(context)), 200),
    )
    .openapi(routes.create, async (context) => {
      const owner = ownerOf(context);
      const issued = await webhooks.create(owner, context.req.valid("json"), callerOf(context));
      return context.json(issued, 201);
    })
    .openapi(routes.show, (context) => {
      const { id } = context.req.valid("param");
      return context.json(webhooks.show(ownerOf(context), id), 200);
    })
    .openapi(routes.change, async (context) => {
      const owner = ownerOf(context);
      const { id } = context.req.valid("param");
      const change = context.req.valid("json");
      return context.json(await webhooks.change(owner, id, change, callerOf(context)), 200);
    })
    .openapi(routes.remove, async (context) => {
      const owner = ownerOf(context);
      await webhooks.remove(owner, context.req.valid("param").id, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(routes.rotate, async (context) => {
      const owner = ownerOf(context);
      const { id } = context.req.valid("param");
      return context.json(await webhooks.rotate(owner, id, callerOf(context)), 200);
    })
    .openapi(routes.ping, async (context) => {
      const { id } = context.req.valid("param");
      const webhook = webhooks.require(ownerOf(context), id);
      return context.json(await deliveries.ping(webhook), 202);
    })
    .openapi(routes.deliveries, async (context) => {
      const { id } = context.req.valid("param");
      const webhook = webhooks.require(ownerOf(context), id);
      const { limit = DEFAULT_LIMIT, before } = context.req.valid("query");
      return context.json(await deliveries.list(webhook, { limit, before }), 200);
    })
    .openapi(routes.delivery, async (context) => {
      const { id, delivery } = context.req.valid("param");
      const webhook = webhooks.require(ownerOf(context), id);
      return context.json(await deliveries.show(webhook, delivery), 200);
    })
    .openapi(routes.redeliver, async (context) => {
      const { id, delivery } = context.req.valid("param");
      const webhook = webhooks.require(ownerOf(context), id);
      return context.json(await deliveries.redeliver(webhook, delivery), 202);
    });
}

/** `/api/webhooks`: a project's webhooks, for its admins. */
export function projectWebhookRoutes({ hosting }: Pick<Services, "hosting">) {
  return webhooksBelow({
    base: "/api/webhooks",
    accessOf: projectAccess,
    ownerOf: (context) => context.get("access").project,
  }, hosting);
}
