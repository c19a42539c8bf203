import { z } from "zod";
import { SOURCE_KINDS } from "./herald_reading.ts";

/** The stored sources of webhooks. */
export const sourcesSchema = z.array(z.object({
  name: z.string(),
  kind: z.enum(SOURCE_KINDS),
  version: z.number(),
}));
export type StoredSource = z.infer<typeof sourcesSchema>[number];

/** The stored notices that wait, each with its channel. Those of earlier versions have no id. */
export const noticesSchema = z.array(
  z.object({
    id: z.string().default(() => crypto.randomUUID()),
    type: z.string(),
    text: z.string(),
    channel: z.string(),
  }),
);
export type StoredNotice = z.infer<typeof noticesSchema>[number];

/** A program whose webhooks herald announces. */
export const heraldSourceSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, {
    error: "must have 1 to 64 lower-case letters, digits and hyphens",
  }).describe("It is in the address, and begins the types of events"),
  kind: z.enum(SOURCE_KINDS).describe(
    "`forgejo` also stands for Gitea, `standard` for everything that signs as Standard Webhooks say; " +
      "`gitlab` takes GitLab's signing token and its secret token",
  ),
});
export type HeraldSource = z.infer<typeof heraldSourceSchema>;

/** What herald answers to an event that it will announce. */
export const acceptedSchema = z.object({
  channel: z.string(),
  waiting: z.int().describe("How many notices wait now"),
}).meta({ id: "HeraldAccepted" });
