import { z } from "zod";
import { Conflict, TooMany } from "../../kernel/errors.ts";
import { waitSchema } from "../../kernel/validation/schemas.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { actorOf } from "../projects/mod.ts";
import { Created, operation } from "../projects/operation.ts";
import { pageOf, pageParameters, rangeOf } from "../projects/schemas.ts";
import type { CheckWaits } from "./check_waits.ts";
import type { Checks } from "./checks.ts";
import { statusOf, viewOfCheck } from "./status.ts";
import {
  checkHistorySchema,
  checkinStatusSchema,
  reportedSchema,
  reportSchema,
} from "./schemas.ts";

/** What the operations on checks call. */
interface CheckServices {
  readonly hosting: { readonly checks: Checks; readonly checkWaits: CheckWaits };
  readonly accounts: Pick<AccountDirectory, "find" | "session">;
}

export const reportCheck = operation(
  {
    http: "POST /api/status",
    needs: "status",
    callers: "no session",
    mcp: {
      name: "report_ci_status",
      about: "Reports the result of a check (CI) on a check-in, in place of the earlier report " +
        "of the same context. Report only what you really ran. A required check counts from " +
        "a project token or those whom its rule names, never for your own work.",
      takes: {
        checkin: "Its hash or a prefix of it",
        context: "Such as ci/build",
        state: "The result",
        description: "What came out, in a line",
        target_url: "A page with the details",
      },
      hints: { idempotentHint: true },
      advice: {
        notFound:
          "Give a hash: get_workspace shows the tip of a workspace, and get_timeline check-ins",
      },
    },
    summary: "Report the result of a check (CI) on a check-in; it replaces an earlier one of the " +
      "same context",
    input: reportSchema,
    bodyName: "CheckReport",
    example: {
      checkin: "5c3f9a1b20",
      context: "ci/build",
      state: "success",
      description: "All 214 tests passed",
      target_url: "https://ci.example.com/builds/7",
    },
    created: { schema: reportedSchema, description: "The first report of this context" },
    ok: { schema: reportedSchema, description: "Replaced the earlier report of this context" },
    refusals: [{ error: Conflict }],
  },
  async ({ hosting: { checks }, accounts }: CheckServices, report, { access, project, caller }) => {
    const actor = actorOf(access, undefined, accounts);
    const { check, isNew } = await checks.report(project, report, { caller, actor });
    const view = { ...viewOfCheck(check), created: isNew };
    return isNew ? new Created(view) : view;
  },
);

export const getCheckinStatus = operation({
  http: "GET /api/status",
  needs: "read",
  waits: "if asked",
  summary: "The checks of a check-in, once none of them is pending if you wait",
  input: z.object({
    checkin: z.string({ error: "checkin parameter required" }).min(1, {
      error: "checkin parameter required",
    }).meta({ description: "An id, a prefix of one, a branch or a tag" }),
    wait_seconds: waitSchema,
  }),
  ok: { schema: checkinStatusSchema, description: "The newest report of each context, by context" },
  refusals: [{ error: TooMany }],
}, async ({ hosting: { checks, checkWaits } }: CheckServices, asked, { project, caller, end }) => {
  const { wait_seconds: seconds = 0 } = asked;
  const checkin = await checks.resolve(project, asked.checkin);
  const status = await checkWaits.read(project, caller.principal, {
    read: () => statusOf(checks, project, checkin),
    names: ["status"],
    concerns: ({ data }) => data["checkin"] === checkin,
  }, { seconds, end });
  if (seconds > 0) await caller.confirm?.();
  return status;
});

export const listCheckReports = operation({
  http: "GET /api/status/{checkin}/history",
  needs: "read",
  summary: "Every report of a check-in, newest first",
  input: z.object({
    checkin: z.string().min(1).meta({
      description: "The check-in: an id, a prefix of one, a branch or a tag",
    }),
    context: z.string().optional().meta({ description: "Only reports of this context" }),
    ...pageParameters,
  }),
  ok: { schema: checkHistorySchema, description: "The reports" },
}, async ({ hosting: { checks } }: CheckServices, input, { project }) => {
  const { checkin: name, context, ...page } = input;
  const checkin = await checks.resolve(project, name);
  const { reports, total } = await checks.history(project, checkin, { context, ...rangeOf(page) });
  return { checkin, reports, ...pageOf(page, total) };
});
