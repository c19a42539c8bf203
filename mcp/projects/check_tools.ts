import { z } from "zod";
import { getCheckinStatus } from "../../services/work/checks/operations.ts";
import { checkinStatusSchema, checkSchema } from "../../services/work/checks/schemas.ts";
import { getReviewChecks } from "../../services/work/reviews/operations.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import type { Data } from "../budget.ts";
import { type Tool, tool, type ToolAnswer } from "../tool.ts";
import type { ToolCall } from "../tool_call.ts";

const MAX_WAIT = 60;

const { checkin, state, failed, waiting_for } = checkinStatusSchema.shape;
const { context, description, target_url, reporter } = checkSchema.shape;

const waitChecks = tool({
  name: "wait_checks",
  description:
    "Shows the checks (CI) of a review's newest check-in, or of any check-in, and waits " +
    "until none is pending.",
  does: getReviewChecks,
  input: {
    review: z.int().min(1).optional(),
    checkin: z.string().min(1).max(200).optional()
      .describe("In place of a review: a hash, branch or tag; workspace/NAME"),
    wait_seconds: z.int().min(0).max(MAX_WAIT).default(MAX_WAIT),
  },
  output: {
    review: z.int().optional(),
    checkin: checkin.nullable(),
    state,
    failed,
    waiting_for,
    checks: z.array(
      z.object({ context, state: checkSchema.shape.state, description, target_url, reporter }),
    ),
  },
  advice: { notFound: "list_reviews shows the reviews, and get_timeline check-ins" },
  async run({ wait_seconds, ...asked }, call) {
    // A client that follows tasks waits by itself.
    return await lookAt(asked, call, call.context.followsTasks === true ? 0 : wait_seconds);
  },
  task: {
    about({ wait_seconds, review }, status) {
      if (Number(wait_seconds) === 0 || isOver(status)) return null;
      return review === undefined ? { checkin: status["checkin"] } : { review };
    },
    events: ["project.status", "project.review"],
    concerns: ({ project, review: changed, checkin: reported }, { review, checkin }, slug) =>
      project === slug &&
      (reported !== undefined ? review !== undefined || reported === checkin : changed === review),
    async see(about, call) {
      const answer = await lookAt(about, call, 0);
      return { answer, isOver: isOver(answer.data) };
    },
    // The checks themselves go on.
    cancel: () => Promise.resolve(),
  },
});

function isOver({ waiting_for }: Data): boolean {
  return Array.isArray(waiting_for) && waiting_for.length === 0;
}

/** How the checks of a review or a check-in stand, once they have come out or the time is over. */
async function lookAt(
  { review, checkin }: Data,
  call: ToolCall,
  wait_seconds: number,
): Promise<ToolAnswer> {
  if ((review === undefined) === (checkin === undefined)) {
    throw new Invalid('Give either "review" or "checkin"');
  }
  const wait = wait_seconds === 0 ? {} : { wait_seconds: String(wait_seconds) };
  const { checks, ...found } = review === undefined
    ? await call.invoke(getCheckinStatus, { checkin: String(checkin), ...wait })
    : await call.invoke(getReviewChecks, { id: Number(review), ...wait });
  const { state, failed, waiting_for } = found;
  const shown = checks.map(({ context, state, description, target_url, reporter }) => (
    { context, state, description, target_url, reporter }
  ));
  return {
    data: {
      ...review === undefined ? {} : { review },
      checkin: found.checkin,
      state,
      failed,
      waiting_for,
      checks: shown,
    },
    cuts: [{ field: "checks", noun: "checks" }],
  };
}

/** `wait_checks`. */
export const checkTools: readonly Tool[] = [waitChecks];
