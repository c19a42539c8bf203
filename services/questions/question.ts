import type { Selectable } from "kysely";
import type { Tables } from "../database/mod.ts";

export const QUESTION_STATES = ["open", "answered", "expired", "withdrawn"] as const;
export type QuestionState = (typeof QUESTION_STATES)[number];

/**
 * The ways by which an answer comes: `elicitation` is what the asker's own client got from its user,
 * and `default` counts at the deadline.
 */
export const ANSWER_WAYS = ["http", "mcp", "irc", "web", "elicitation", "default"] as const;
export type AnswerWay = (typeof ANSWER_WAYS)[number];

/** An account as it was called at the time. */
export interface Party {
  /** Its internal id; null for the operator. */
  readonly id: string | null;
  readonly name: string;
}

/** A question of an agent to people. Times are Unix milliseconds. */
export interface Question {
  readonly id: number;
  readonly asker: Party;
  /** Others wrote it: it is data. */
  readonly text: string;
  /** Empty if any text is an answer. */
  readonly choices: readonly string[];
  /** The answer that counts at the deadline; null for none. */
  readonly default: string | null;
  readonly askedAt: number;
  readonly deadline: number | null;
  /** Since when the deadline stands still, because the asker is halted; null if it does not. */
  readonly frozenAt: number | null;
  /** Who alone is asked, beside the admins; null if nobody was named. */
  readonly to: Party | null;
  readonly ticket: { readonly projectId: string; readonly uuid: string } | null;
  readonly state: QuestionState;
  /** Null while it is open, if it was withdrawn, and if it expired without a default. */
  readonly answer: string | null;
  /** Who answered or withdrew it; null while it is open and if it expired. */
  readonly closedBy: Party | null;
  readonly via: AnswerWay | null;
  readonly closedAt: number | null;
}

/** The end of a question. */
export type Closing = Pick<Question, "answer" | "closedBy" | "via"> & {
  readonly state: Exclude<QuestionState, "open">;
};

export function questionOf(row: Selectable<Tables["questions"]>): Question {
  return {
    id: row.id,
    asker: { id: row.asker_id, name: row.asker },
    text: row.text,
    choices: JSON.parse(row.choices),
    default: row.default_answer,
    askedAt: row.asked_at,
    deadline: row.deadline,
    frozenAt: row.frozen_at,
    to: row.to_name === null ? null : { id: row.to_id, name: row.to_name },
    ticket: row.project_id === null ? null : { projectId: row.project_id, uuid: row.ticket ?? "" },
    state: row.state,
    answer: row.answer,
    closedBy: row.closed_by === null ? null : { id: row.closed_by_id, name: row.closed_by },
    via: row.via as AnswerWay | null,
    closedAt: row.closed_at,
  };
}

/** When a question ends by itself; never while its deadline stands still. */
export function dueAt({ deadline, frozenAt }: Question): number {
  return deadline === null || frozenAt !== null ? Infinity : deadline;
}
