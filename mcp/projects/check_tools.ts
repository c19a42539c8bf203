import { z } from "zod";
import { getCheckinStatus, reportCheck } from "../../services/checks/operations.ts";
import {
  CHECK_STATES,
  checkinStatusSchema,
  reportedSchema,
} from "../../services/checks/schemas.ts";
import { projectTool, type ProjectTools } from "./project_tool.ts";

/** `get_ci_status` and `report_ci_status`. */
export const checkTools: ProjectTools = (services) =>
  [getCiStatus, reportCiStatus].map((tool) => tool(services));

const getCiStatus = projectTool({
  name: "get_ci_status",
  description:
    "Shows the checks (CI) of a check-in: the newest report of each. Use it before you ask " +
    "for a review or merge.",
  needs: "read",
  input: {
    checkin: z.string().min(1).describe("Hash, prefix of it, branch or tag; workspace/NAME"),
  },
  output: checkinStatusSchema.shape,
  advice: { notFound: "get_timeline lists check-ins" },
  async run({ checkin }, project) {
    const status = await project.invoke(getCheckinStatus, { checkin });
    return { data: status, cuts: [{ field: "checks", noun: "checks" }] };
  },
});

const reportCiStatus = projectTool({
  name: "report_ci_status",
  description:
    "Reports the result of a check (CI) that you ran on a check-in. It replaces the earlier " +
    "report of the same context. Report only what you really ran. A required check counts from a " +
    "project token or from those whom its rule names, never for your own work.",
  needs: "status",
  hints: { idempotentHint: true },
  input: {
    checkin: z.string().min(4).max(64).describe("The check-in: its hash or a prefix of it"),
    context: z.string().min(1).max(200).describe("The name of the check, such as ci/build"),
    state: z.enum(CHECK_STATES),
    description: z.string().max(500).default(""),
    target_url: z.string().max(2000).default("").describe("A page with the details"),
  },
  output: reportedSchema.shape,
  advice: {
    notFound: "Give a hash: get_workspace shows the tip of a workspace, and get_timeline check-ins",
  },
  async run(report, project) {
    return { data: await project.invoke(reportCheck, report) };
  },
});
