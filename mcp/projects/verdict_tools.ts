import { z } from "zod";
import * as reviews from "../../services/reviews/operations.ts";
import {
  givenApprovalSchema,
  landingListSchema,
  landingStatusSchema,
  reviewStateSchema,
} from "../../services/reviews/schemas.ts";
import { listCut, partShape } from "./parts.ts";
import { projectTool, type ProjectTools } from "./project_tool.ts";
import { FIND_REVIEW, reviewShape } from "./review_tools.ts";
import { generationShape } from "./ticket_tools.ts";

/** Verdicts on reviews, and the landing queue. */
export const verdictTools: ProjectTools = (services) =>
  [approveReview, requestChanges, closeReview, landReview, getLandingQueue]
    .map((tool) => tool(services));

const roundShape = {
  round: z.int().min(1).optional()
    .describe("The round that you read: the call fails if a newer one has begun"),
};

const approveReview = projectTool({
  name: "approve_review",
  description: "Approves the newest round of somebody else's review. Read its whole diff first " +
    "(get_review) and name the round that you read. Then land_review or merge_workspace.",
  needs: "write",
  hints: { idempotentHint: true },
  input: { ...reviewShape, ...roundShape, comment: z.string().max(60_000).optional() },
  output: givenApprovalSchema.shape,
  advice: {
    ...FIND_REVIEW,
    conflict: "Read it again with get_review",
    forbidden: "Another agent or a person with the right to write approves it",
  },
  async run(given, project) {
    return { data: await project.invoke(reviews.approveReview, given) };
  },
});

const requestChanges = projectTool({
  name: "request_changes",
  description:
    "Refuses the newest round of a review and says what to change; earlier approvals end. " +
    "Its author is notified. Comments on lines go through comment_review first.",
  needs: "write",
  hints: { idempotentHint: true },
  input: {
    ...reviewShape,
    comment: z.string().min(1).max(60_000).describe("What must change"),
    ...roundShape,
  },
  output: reviewStateSchema.shape,
  advice: { ...FIND_REVIEW, conflict: "Read it again with get_review" },
  async run(given, project) {
    return { data: await project.invoke(reviews.requestChanges, given) };
  },
});

const closeReview = projectTool({
  name: "close_review",
  description: "Closes your review without merging it. It cannot be opened again.",
  needs: "write",
  hints: { destructiveHint: true },
  input: { ...reviewShape, ...generationShape },
  output: reviewStateSchema.shape,
  advice: FIND_REVIEW,
  async run(given, project) {
    return { data: await project.invoke(reviews.closeReview, given) };
  },
});

const landReview = projectTool({
  name: "land_review",
  description: "Puts an approved review into the landing queue: it is merged once the required " +
    "checks pass on the merge. Follow it with get_landing_queue or read_inbox. With withdraw, takes " +
    "it out again.",
  needs: "write",
  input: {
    ...reviewShape,
    withdraw: z.boolean().default(false).describe("Take the review out of the queue"),
    ...generationShape,
  },
  output: landingStatusSchema.shape,
  advice: { ...FIND_REVIEW, conflict: "get_review and get_landing_queue show its state" },
  async run({ withdraw, ...given }, project) {
    const data = withdraw
      ? await project.invoke(reviews.withdrawLanding, given)
      : await project.invoke(reviews.landReview, given);
    return { data };
  },
});

const getLandingQueue = projectTool({
  name: "get_landing_queue",
  description: "Shows the landing queue in its order, with the checks that are awaited, then the " +
    "latest reviews that landed or came back, with the reason.",
  needs: "read",
  input: partShape(25, "landings"),
  output: { landing: landingListSchema.shape.landing, total: z.int() },
  async run({ limit, offset }, project) {
    const { answer: { total }, entries } = await project.part(
      { limit, offset },
      (page) => project.invoke(reviews.listLandings, page),
      ({ landing }) => landing,
    );
    return {
      data: { landing: entries, total },
      cuts: [listCut("landing", "landings", { first: offset, total })],
    };
  },
});
