import { amount } from "../amount.ts";
import { type ChannelMessage, parseEnvelope } from "../bridge/mod.ts";

/** Speakers and tasks that a digest names. */
const MOST_SPEAKERS = 5;
const MOST_TASKS = 8;

/** Last lines that it quotes, and the characters of each. */
const LAST_LINES = 5;
const LINE_LENGTH = 160;

/** Keys of a payload that name a task, the first one first. */
const TASK_KEYS = ["title", "task", "name", "id", "task_id"] as const;

/**
 * Sums up messages without a model: who spoke how much, the last state of each task, and the last
 * lines.
 */
export function digestOf(channel: string, messages: readonly ChannelMessage[]): string[] {
  const [first, last] = [messages[0], messages.at(-1)];
  if (first === undefined || last === undefined) return [`Nothing was said in ${channel}`];
  const speakers = counted(messages.map(({ nick }) => nick));
  const shown = speakers.slice(0, MOST_SPEAKERS).map(([nick, count]) => `${nick} ${count}`);
  const others = speakers.length - shown.length;
  const tasks = statesOf(messages);
  return [
    `${channel}: ${amount(messages.length, "message")} from ${minute(first)} to ${
      minute(last)
    }, by ` +
    shown.join(", ") + (others > 0 ? ` and ${amount(others, "other")}` : ""),
    ...tasks.length === 0 ? [] : [`Tasks: ${tasks.slice(0, MOST_TASKS).join("; ")}`],
    "Last lines:",
    ...messages.filter(({ text }) => parseEnvelope(text) === null).slice(-LAST_LINES)
      .map(({ nick, text }) => `<${nick}> ${shortened(text)}`),
  ];
}

/** Names with the number of their occurrences, the most frequent first. */
export function counted(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}

/** The last state of each task that envelopes name, as `title: done`; the latest first. */
function statesOf(messages: readonly ChannelMessage[]): string[] {
  const states = new Map<string, string>();
  for (const { text } of messages) {
    const envelope = parseEnvelope(text);
    if (envelope === null || !envelope.type.startsWith("task.")) continue;
    const task = taskOf(envelope["payload"]) ?? envelope.id;
    states.delete(task);
    states.set(task, envelope.type.slice("task.".length));
  }
  return [...states].reverse().map(([task, state]) => `${shortened(task)}: ${state}`);
}

function taskOf(payload: unknown): string | null {
  if (typeof payload !== "object" || payload === null) return null;
  for (const key of TASK_KEYS) {
    const value: unknown = Reflect.get(payload, key);
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

function minute({ timestamp }: ChannelMessage): string {
  return `${timestamp.slice(0, 16)}Z`;
}

function shortened(text: string): string {
  return text.length <= LINE_LENGTH ? text : `${text.slice(0, LINE_LENGTH - 1)}…`;
}
