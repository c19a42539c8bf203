import { z } from "zod";
import { PROJECT_EVENT_NAMES } from "../events/mod.ts";

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

export type NewWebhook = z.infer<typeof newWebhookSchema>;
export type WebhookChange = z.infer<typeof webhookChangeSchema>;

/** Parses a URL; null if no webhook may use it. */
function readUrl(text: string): URL | null {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return null;
  return parsed.username === "" && parsed.password === "" ? parsed : null;
}
