import type { Selectable } from "kysely";
import type { Tables } from "../../engines/database/mod.ts";

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

/** Longest question, and longest answer, in characters. */
export const MAX_TEXT = 2000;

/** Shortest and longest time until a deadline, in seconds. */
export const MIN_DEADLINE = 10;
export const MAX_DEADLINE = 30 * 86_400;

/** Texts that differ only in case and outer spaces are one choice. */
export function folded(text: string): string {
  return text.trim().toLowerCase();
}

/** Longest quotation of a question in a line. */
const MAX_QUOTED = 80;

/** Longest text, list of choices and answer in a line on IRC. */
const MAX_SHOWN = 200;
const MAX_CHOICES = 100;
const MAX_ANSWER = 100;

const SPACE = /\s+/g;

/** A text of others as one line of bounded length. */
export function lineOf(text: string, maxLength: number): string {
  const line = text.replaceAll(SPACE, " ").trim();
  if (line.length <= maxLength) return line;
  return `${line.slice(0, maxLength - 1).toWellFormed().replace(/\ufffd$/, "").trimEnd()}…`;
}

/** The beginning of a question, in quotes. */
export function excerptOf(text: string): string {
  return `“${lineOf(text, MAX_QUOTED)}”`;
}

/** The line that asks people on IRC. */
export function announcementOf(question: Question): string {
  const { id, asker, text, choices, default: answer, deadline } = question;
  const list = lineOf(choices.join(" / "), MAX_CHOICES);
  const how = choices.length === 0
    ? "TEXT"
    : choices.length === 2
    ? choices.join(" or ")
    : "CHOICE";
  const end = deadline === null ? "" : ` until ${minuteOf(deadline)} UTC`;
  const otherwise = answer === null ? "" : `, or else it is “${lineOf(answer, MAX_ANSWER)}”`;
  return `Question ${id} from ${asker.name}: ${lineOf(text, MAX_SHOWN)}` +
    `${list === "" ? "" : ` [${list}]`} – reply to this, or say ` +
    `!answer ${id} ${lineOf(how, MAX_CHOICES)}${end}${otherwise}`;
}

const ANNOUNCEMENT = /^Question (\d{1,9}) from /;

/** The number of the question that a line of muster announces; null if it announces none. */
export function announcedIn(line: string): number | null {
  const [, id] = ANNOUNCEMENT.exec(line) ?? [];
  return id === undefined ? null : Number(id);
}

/** Who answered a question, in words. */
export function answererOf(
  closedBy: Pick<Party, "name"> | null,
  via: Question["via"],
): string {
  const name = closedBy?.name ?? "muster";
  return via === "elicitation" ? `the user of ${name}’s client` : name;
}

/** The line that tells people on IRC how a question ended. */
export function endingOf({ id, asker, state, answer, closedBy, via }: Question): string {
  const which = `Question ${id} of ${asker.name}`;
  const said = answer === null ? "" : `: ${lineOf(answer, MAX_SHOWN)}`;
  if (state === "answered") return `${which} is answered by ${answererOf(closedBy, via)}${said}`;
  if (state === "withdrawn") return `${which} is withdrawn`;
  return answer === null
    ? `${which} ended without an answer`
    : `${which} ended, and its default counts${said}`;
}

function minuteOf(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}
