import { z } from "zod";
import { PROJECT_EVENT_NAMES } from "../../engines/events/mod.ts";

const url = z.string().max(2000, { error: "must have at most 2000 characters" })
  .refine((text) => readUrl(text) !== null, {
    error: "must be an http or https URL without user and password",
  });
const types = z.array(
  z.enum(PROJECT_EVENT_NAMES, { error: `must be one of ${PROJECT_EVENT_NAMES.join(", ")}` }),
).max(50, { error: "must have at most 50 names" });

/** The body of a request that makes a webhook. */
export const newWebhookSchema = z.object({
  url,
  types: types.default([]).describe("Names of events, such as `checkin`; empty for all"),
});

/** The body of a request that changes a webhook. */
export const webhookChangeSchema = z.object({
  url: url.optional(),
  types: types.optional(),
  active: z.boolean().optional().describe("An inactive webhook sends nothing"),
});

const time = z.iso.datetime();
/** A webhook, without its secret. */
export const webhookSchema = z.object({
  id: z.string(),
  project: z.string().nullable().meta({ description: "Its slug; null for all projects" }),
  url: z.string(),
  types: z.array(z.string()).readonly().meta({ description: "Names of events; empty for all" }),
  active: z.boolean(),
  failing_since: time.nullable().meta({
    description: "Since when deliveries fail; after five days the webhook is disabled",
  }),
  created_at: time,
}).meta({ id: "Webhook" });

/** A webhook with its secret, which is shown once. */
export const issuedSchema = webhookSchema.extend({
  secret: z.string().meta({ description: "Shown only here", example: "whsec_MfKQ9r8G..." }),
}).meta({ id: "IssuedWebhook" });

/** What a webhook sent, or will send. */
export const deliverySchema = z.object({
  id: z.string(),
  type: z.string(),
  event: z.int().nullable().meta({ description: "Number of the event; null for a ping" }),
  status: z.enum(["pending", "delivered", "failed"]),
  attempts: z.int(),
  next_attempt_at: time.nullable(),
  response_status: z.int().nullable(),
  error: z.string().nullable(),
  milliseconds: z.int().nullable().meta({ description: "How long the last attempt took" }),
  created_at: time,
  finished_at: time.nullable(),
}).meta({ id: "WebhookDelivery" });

export const wholeDeliverySchema = deliverySchema.extend({
  body: z.string().meta({ description: "The posted body" }),
}).meta({ id: "WholeWebhookDelivery" });

export type NewWebhook = z.infer<typeof newWebhookSchema>;
export type WebhookChange = z.infer<typeof webhookChangeSchema>;
export type WebhookView = z.output<typeof webhookSchema>;
export type IssuedWebhook = z.output<typeof issuedSchema>;
export type DeliveryView = z.output<typeof deliverySchema>;

/** Parses a URL; null if no webhook may use it. */
function readUrl(text: string): URL | null {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return null;
  return parsed.username === "" && parsed.password === "" ? parsed : null;
}
