import type { Question } from "./question.ts";

/** Longest quotation of a question in a line. */
const MAX_QUOTED = 80;

/** Longest text, list of choices and answer in a line on IRC. */
const MAX_TEXT = 200;
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
  return `Question ${id} from ${asker.name}: ${lineOf(text, MAX_TEXT)}` +
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
export function answererOf(closedBy: Question["closedBy"], via: Question["via"]): string {
  const name = closedBy?.name ?? "muster";
  return via === "elicitation" ? `the user of ${name}’s client` : name;
}

/** The line that tells people on IRC how a question ended. */
export function endingOf({ id, asker, state, answer, closedBy, via }: Question): string {
  const which = `Question ${id} of ${asker.name}`;
  const said = answer === null ? "" : `: ${lineOf(answer, MAX_TEXT)}`;
  if (state === "answered") return `${which} is answered by ${answererOf(closedBy, via)}${said}`;
  if (state === "withdrawn") return `${which} is withdrawn`;
  return answer === null
    ? `${which} ended without an answer`
    : `${which} ended, and its default counts${said}`;
}

function minuteOf(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}
