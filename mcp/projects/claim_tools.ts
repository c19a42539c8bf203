import { z } from "zod";
import * as tickets from "../../services/work/tickets/operations.ts";
import { claimSchema } from "../../services/work/tickets/schemas.ts";
import { type Tool, tool } from "../tool.ts";
import { generationShape, uuidShape } from "./ticket_tools.ts";

const { ticket, agent, status, workspace, generation, claimed_at, expires_at } = claimSchema.shape;
const claimFields = { ticket, agent, status, workspace, generation, claimed_at, expires_at };

/** A claim without upstream's second names of the same fields. */
function shown({ ticket, agent, status, workspace, generation, claimed_at, expires_at }: z.output<
  typeof claimSchema
>) {
  return { ticket, agent, status, workspace, generation, claimed_at, expires_at };
}

const claimTicket = tool({
  name: "claim_ticket",
  description:
    "Takes a ticket for yourself, so that nobody else works on it, or renews your claim. " +
    "The claim is a lease until expires_at; each of your changes renews it. Then create_workspace " +
    "with the ticket. If somebody was faster, the error names the next unclaimed tickets.",
  does: tickets.claimTicket,
  hints: { idempotentHint: true },
  input: {
    ...uuidShape,
    workspace: z.string().max(200).optional().describe("The workspace in which you will work"),
  },
  output: { ...claimFields, message: z.string() },
  advice: {
    notFound: "list_tickets with unclaimed finds tickets to claim",
    conflict: "Do not work on this ticket: list_tickets with unclaimed shows which are free",
  },
  async run({ uuid, workspace }, project) {
    const claim = await project.invoke(tickets.claimTicket, { uuid, workspace });
    const message = "message" in claim ? claim.message : "The ticket is yours";
    return { data: { ...shown(claim), message } };
  },
});

const releaseTicket = tool({
  name: "release_ticket",
  description:
    "Gives back a ticket that you claimed, without a result, so that others can take it. " +
    "Say in a comment (update_ticket) what you found. If the work is done, use submit_work.",
  does: tickets.releaseTicket,
  input: { ...uuidShape, ...generationShape },
  output: { ...claimFields, released_at: z.string() },
  advice: { notFound: "get_my_work lists your claims" },
  async run({ uuid, generation }, project) {
    const claim = await project.invoke(tickets.releaseTicket, { uuid, generation });
    return { data: { ...shown(claim), released_at: claim.released_at } };
  },
});

const submitWork = tool({
  name: "submit_work",
  description: "Hands in your work on a claimed ticket: adds the summary as a comment, sets the " +
    "ticket to Review, opens a review of the workspace and ends the claim. Commit everything first " +
    "(commit_files). Then wait for the review with read_inbox.",
  does: tickets.submitTicket,
  input: {
    ...uuidShape,
    summary: z.string().max(100_000).describe("What you did, for the reviewer"),
    workspace: z.string().max(200).optional().describe("The workspace with your commits"),
    files_changed: z.array(z.string()).max(1000).optional()
      .describe("Only if there is no workspace"),
    reviewers: z.array(z.string()).max(20).optional()
      .describe("Agents or people who are asked for a verdict"),
    ...generationShape,
  },
  output: {
    ...claimFields,
    review: z.int().nullable().describe("The review of the workspace; null if there is none"),
  },
  advice: {
    notFound: "get_my_work lists your claims and workspaces",
    conflict: "get_my_work shows what you hold",
  },
  async run(work, project) {
    const claim = await project.invoke(tickets.submitTicket, work);
    const { review } = claim;
    return { data: { ...shown(claim), review: typeof review === "number" ? review : null } };
  },
});

/** `claim_ticket`, `release_ticket` and `submit_work`. */
export const claimTools: readonly Tool[] = [claimTicket, releaseTicket, submitWork];
