import { z } from "zod";
import { isLine } from "../../kernel/words.ts";
import { pageFields } from "../projects/schemas.ts";
import { whole } from "../../kernel/validation/schemas.ts";

const NO_LINE = "must have no line breaks, control or invisible characters";

export const CHECK_STATES = ["pending", "success", "failure", "error"] as const;

const MAX_CONTEXT = 200;
const MAX_DESCRIPTION = 500;
const MAX_URL = 2000;

function text(name: string, maximum: number) {
  return whole(
    z.string({ error: `${name} must be a string` }).trim().max(maximum, {
      error: `${name} must be ${maximum} characters or fewer`,
    }),
  );
}

function isWebAddress(address: string): boolean {
  if (address === "") return true;
  const scheme = URL.parse(address)?.protocol;
  return scheme === "http:" || scheme === "https:";
}

/** The body of a report on a check-in. */
export const reportSchema = z.object({
  checkin: z.string({ error: "checkin is required" }).trim().min(1, {
    error: "checkin is required",
  }).max(64, { error: "checkin must be 64 characters or fewer" }).describe(
    "The id of the check-in, or a prefix of at least 4 digits",
  ),
  context: whole(
    z.string({ error: "context is required" }).trim().min(1, { error: "context is required" })
      .max(MAX_CONTEXT, { error: `context must be ${MAX_CONTEXT} characters or fewer` })
      .refine(isLine, { error: `context ${NO_LINE}` }),
  ).describe("The name of the check, such as ci/build"),
  state: z.enum(CHECK_STATES, { error: `state must be one of: ${CHECK_STATES.join(", ")}` }),
  // CI systems send what their tools print, which may have several lines.
  description: text("description", MAX_DESCRIPTION).default(""),
  target_url: text("target_url", MAX_URL).refine(isLine, {
    error: `target_url ${NO_LINE}`,
  }).refine(isWebAddress, {
    error: "target_url must use http or https scheme",
  }).default(""),
});

/** A report on a check-in. */
export type Report = z.infer<typeof reportSchema>;

const stateSchema = z.enum(CHECK_STATES);

const reportFields = {
  checkin: z.string().meta({ description: "The whole id of the check-in" }),
  context: z.string(),
  state: stateSchema,
  description: z.string(),
  target_url: z.string(),
  reporter: z.string(),
};

/** The newest report of a check, as the API shows it. */
export const checkSchema = z.object({
  id: z.int(),
  ...reportFields,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}).meta({ id: "Check" });

export const reportedSchema = checkSchema.extend({ created: z.boolean() });

export const checkinStatusSchema = z.object({
  checkin: z.string(),
  state: z.enum(["unknown", "failing", "pending", "passing"]),
  failed: z.array(z.string()).meta({ description: "The contexts that failed" }),
  waiting_for: z.array(z.string()).meta({ description: "The contexts that are pending" }),
  checks: z.array(checkSchema),
}).meta({ id: "CheckinStatus" });

const pastReportSchema = z.object({ ...reportFields, reported_at: z.iso.datetime() });

export const checkHistorySchema = z.object({
  checkin: z.string(),
  reports: z.array(pastReportSchema),
  ...pageFields,
}).meta({ id: "CheckHistory" });

/** The result of a check. */
export type CheckState = z.output<typeof stateSchema>;
export type CheckView = z.output<typeof checkSchema>;
export type PastReport = z.output<typeof pastReportSchema>;
export type CheckinStatus = z.output<typeof checkinStatusSchema>;
