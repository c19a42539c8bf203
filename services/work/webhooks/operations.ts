import { z } from "zod";
import { Conflict } from "../../kernel/errors.ts";
import { Created, operation, type OwnedCall } from "../projects/operation.ts";
import { wholeNumber } from "../../kernel/validation/schemas.ts";
import {
  deliverySchema,
  issuedSchema,
  newWebhookSchema,
  webhookChangeSchema,
  webhookSchema,
  wholeDeliverySchema,
} from "./schemas.ts";
import type { Webhooks } from "./webhooks.ts";

/** What the operations on webhooks call. */
interface WebhookServices {
  readonly hosting: { readonly webhooks: Webhooks };
}

/** Most deliveries in one answer, and the default. */
const [MAX_LIMIT, DEFAULT_LIMIT] = [100, 25];

/** Only a project's admins have webhooks; the operator calls the same for the whole server. */
const admins = { needs: "admin", callers: "no passphrase" } as const;

const byId = z.object({ id: z.string() });
const byDelivery = byId.extend({ delivery: z.string() });
const aWebhook = { schema: webhookSchema, description: "The webhook" };
const withSecret = { schema: issuedSchema, description: "The webhook" };
const queued = {
  ok: { schema: deliverySchema, description: "Queued for delivery" },
  isAccepted: true,
  refusals: [{ error: Conflict }],
} as const;

/** What commands say of a delivery that waits. */
const QUEUED = "The delivery {id} is queued";

export const listWebhooks = operation(
  {
    http: "GET /api/webhooks",
    ...admins,
    summary: "List the webhooks of a project",
    input: z.object({}),
    ok: { schema: z.array(webhookSchema).readonly(), description: "The webhooks" },
    cli: {
      at: "project webhook list <project>",
      about: "list a project's webhooks",
      columns: [
        "id",
        "STATE: {active?on|off}[, fails since {failing_since}]",
        'TYPES: {types:csv|"all"}',
        "url",
      ],
    },
  },
  ({ hosting: { webhooks } }: WebhookServices, _input, { project }: OwnedCall) =>
    webhooks.list(project),
);

export const createWebhook = operation(
  {
    http: "POST /api/webhooks",
    ...admins,
    summary: "Make a webhook of a project",
    description: "Events are posted as JSON, `{type, timestamp, data}`, with the names and " +
      "fields of `GET /api/events`, and signed according to Standard Webhooks. Any status " +
      "but 2xx is a failure, redirects included; nine more attempts follow in three days. 410 " +
      "disables the webhook. Local and private addresses are never reached unless " +
      "`webhooks.allow_private` is set. At most 50.",
    input: newWebhookSchema,
    bodyName: "WebhookRequest",
    example: { url: "https://ci.example/hooks/muster", types: ["checkin", "review"] },
    created: withSecret,
    refusals: [{ error: Conflict }],
    cli: {
      at: "project webhook add <project> <address:url>",
      about: "post a project's events to a URL, and print the secret once",
      aliases: ["create"],
      options: {
        types: {
          flags: "--types <types>",
          about: "names of events, separated by commas (default: all)",
        },
      },
      fields: ["id", "secret"],
      examples: [{
        line: "project webhook add website https://ci.example/muster --types checkin,review",
        purpose: "Post check-ins and reviews to a program",
      }],
    },
  },
  async ({ hosting: { webhooks } }: WebhookServices, input, { project, caller }: OwnedCall) =>
    new Created(await webhooks.create(project, input, caller)),
);

export const getWebhook = operation(
  {
    http: "GET /api/webhooks/{id}",
    ...admins,
    summary: "Show a webhook of a project",
    input: byId,
    ok: aWebhook,
  },
  ({ hosting: { webhooks } }: WebhookServices, { id }, { project }: OwnedCall) =>
    webhooks.show(project, id),
);

export const changeWebhook = operation({
  http: "PATCH /api/webhooks/{id}",
  ...admins,
  summary: "Change a webhook of a project, or turn it on or off",
  input: webhookChangeSchema.extend(byId.shape),
  bodyName: "WebhookChange",
  example: { active: true },
  ok: aWebhook,
}, ({ hosting: { webhooks } }: WebhookServices, input, { project, caller }: OwnedCall) => {
  const { id, ...change } = input;
  return webhooks.change(project, id, change, caller);
});

export const deleteWebhook = operation({
  http: "DELETE /api/webhooks/{id}",
  ...admins,
  summary: "Remove a webhook of a project, with its deliveries",
  input: byId,
  done: "Removed",
  cli: {
    at: "project webhook remove <project> <webhook:id>",
    about: "remove a webhook with its deliveries",
    aliases: ["delete"],
  },
}, async ({ hosting: { webhooks } }: WebhookServices, { id }, { project, caller }: OwnedCall) => {
  await webhooks.remove(project, id, caller);
  return undefined;
});

export const rotateWebhookSecret = operation(
  {
    http: "POST /api/webhooks/{id}/rotate",
    ...admins,
    summary: "Give a webhook of a project a new secret; the old one also signs for a day",
    input: byId,
    ok: withSecret,
  },
  ({ hosting: { webhooks } }: WebhookServices, { id }, { project, caller }: OwnedCall) =>
    webhooks.rotate(project, id, caller),
);

export const pingWebhook = operation(
  {
    http: "POST /api/webhooks/{id}/ping",
    ...admins,
    summary: "Send a test delivery to a webhook of a project",
    input: byId,
    ...queued,
    cli: {
      at: "project webhook ping <project> <webhook:id>",
      about: "send a test delivery",
      says: QUEUED,
    },
  },
  ({ hosting: { webhooks } }: WebhookServices, { id }, { project }: OwnedCall) =>
    webhooks.deliveries.ping(webhooks.require(project, id)),
);

export const listWebhookDeliveries = operation({
  http: "GET /api/webhooks/{id}/deliveries",
  ...admins,
  summary: "List the deliveries of a webhook of a project, newest first",
  input: byId.extend({
    limit: wholeNumber(`Most deliveries; ${DEFAULT_LIMIT} by default`, 1, MAX_LIMIT),
    before: z.string().optional().meta({
      description: "Only deliveries older than this one, by its id",
    }),
  }),
  ok: {
    schema: z.array(deliverySchema),
    description: "The deliveries; the newest 1,000 finished ones are kept",
  },
  cli: {
    at: "project webhook deliveries <project> <webhook:id>",
    about: "list what a webhook sent, newest first",
    options: {
      limit: { flags: "--limit <count>", about: "most deliveries, at most 100 (default: 25)" },
      before: { flags: "--before <delivery>", about: "only deliveries older than this one" },
    },
    columns: [
      "id",
      "CREATED: {created_at}",
      "type",
      "status",
      "attempts",
      "ANSWER: {error|response_status}",
    ],
  },
}, ({ hosting: { webhooks } }: WebhookServices, input, { project }: OwnedCall) => {
  const { id, limit = DEFAULT_LIMIT, before } = input;
  return webhooks.deliveries.list(webhooks.require(project, id), { limit, before });
});

export const getWebhookDelivery = operation(
  {
    http: "GET /api/webhooks/{id}/deliveries/{delivery}",
    ...admins,
    summary: "Show a delivery of a webhook of a project",
    input: byDelivery,
    ok: { schema: wholeDeliverySchema, description: "The delivery" },
  },
  ({ hosting: { webhooks } }: WebhookServices, { id, delivery }, { project }: OwnedCall) =>
    webhooks.deliveries.show(webhooks.require(project, id), delivery),
);

export const redeliverToWebhook = operation(
  {
    http: "POST /api/webhooks/{id}/deliveries/{delivery}/redeliver",
    ...admins,
    summary: "Send a delivery of a webhook of a project again, under the same id",
    input: byDelivery,
    ...queued,
    cli: {
      at: "project webhook redeliver <project> <webhook:id> <delivery>",
      about: "send a delivery again, under the same id",
      says: QUEUED,
    },
  },
  ({ hosting: { webhooks } }: WebhookServices, { id, delivery }, { project }: OwnedCall) =>
    webhooks.deliveries.redeliver(webhooks.require(project, id), delivery),
);
