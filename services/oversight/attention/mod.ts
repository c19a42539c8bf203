/**
 * What the home page shows: what waits for a person, what agents do, and what happened. Everything
 * comes from memory or from a fixed number of queries, however many agents and projects there are.
 */
export { type AgentAtWork, type AgentBoard, seenLast } from "./agent_board.ts";
export {
  type AgentWorkload,
  Attention,
  type AttentionOptions,
  type FailedCheck,
  type HeldTicket,
  type PendingReview,
  type StruckTicket,
  type Waiting,
} from "./attention.ts";
export { WorkNeeds, type WorkNeedsOptions } from "./work_needs.ts";
