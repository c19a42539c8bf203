import { z } from "zod";
import { textSchema } from "../../../kernel/validation/schemas.ts";

/** Longest duration of a ban, in seconds: ten years. */
const LONGEST_SECONDS = 3650 * 86_400;

/** The request for a ban. */
export const banRequestSchema = z.object({
  mask: z.string().min(1, { error: "must not be empty" }).max(300, {
    error: "must have at most 300 characters",
  }).describe(
    "user@host, nick!user@host, an address, a network such as 192.0.2.0/24, or account:name",
  ),
  reason: textSchema(0, 300).default("").describe("The reason that the banned client gets"),
  duration_seconds: z.int({ error: "must be a whole number" })
    .min(1, { error: "must be at least 1" }).max(LONGEST_SECONDS, {
      error: `must be at most ${LONGEST_SECONDS}`,
    }).nullable().default(null).describe("null: until it is taken away"),
});

export type BanRequest = z.infer<typeof banRequestSchema>;

/** A ban, for callers. */
export interface BanRecord {
  readonly id: string;
  readonly mask: string;
  readonly reason: string;
  /** Kind and name of the actor that set it, as in the event log. */
  readonly set_by: string;
  /** ISO 8601. */
  readonly created_at: string;
  readonly expires_at: string | null;
}
