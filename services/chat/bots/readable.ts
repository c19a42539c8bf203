import { amount } from "../../kernel/words.ts";
import { type ChannelMessage, parseEnvelope } from "../bridge/mod.ts";
import { Invalid, NotFound } from "../../kernel/errors.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import type { BotCommandCall, BotContext, BotName } from "./bot.ts";

/** What was said in the channels of the bridge; access is checked by the caller. */
export interface ChannelHistory {
  /** Messages, oldest first: the newest, the first ones after a time, or the last ones before it. */
  messages(
    channel: string,
    query: {
      readonly limit: number;
      readonly since?: string | undefined;
      readonly before?: string | undefined;
    },
  ): Promise<readonly ChannelMessage[]>;
}

/** Messages that one request reads. */
const PAGE = 200;

/**
 * The channel that a command is about.
 *
 * @throws Invalid if it names none, NotFound if the bot is not there or the speaker may not read it
 */
export function readableChannel<Name extends BotName>(
  context: BotContext<Name>,
  { subject, speaker }: BotCommandCall,
): string {
  if (subject === null) throw new Invalid(NO_CHANNEL);
  const folded = foldCase(subject);
  const name = context.channels().find((one) => foldCase(one) === folded);
  if (name !== undefined && context.mayRead(speaker, name)) return name;
  throw new NotFound(`There is no channel ${subject}, or you may not read it`);
}

/** The newest messages of a channel, oldest first. */
export async function newestMessages(
  history: ChannelHistory,
  channel: string,
  count: number,
): Promise<ChannelMessage[]> {
  let found: ChannelMessage[] = [];
  while (found.length < count) {
    const limit = Math.min(PAGE, count - found.length);
    const before = found[0]?.id;
    const page = await history.messages(channel, { limit, before });
    found = [...page, ...found];
    if (page.length < limit) break;
  }
  return found;
}

/** The number among the words of a command, within its bounds. */
export function countIn(words: readonly string[], usual: number, most: number): number {
  const given = Number(words.find((word) => /^[1-9]\d{0,8}$/.test(word)) ?? usual);
  return Math.min(given, most);
}

/** The parameters of a command in the form `name=value`, by name in lower case. */
export function parametersIn(words: readonly string[]): ReadonlyMap<string, string> {
  const found = words.flatMap((word): [string, string][] => {
    const equals = word.indexOf("=");
    return equals < 1 ? [] : [[word.slice(0, equals).toLowerCase(), word.slice(equals + 1)]];
  });
  return new Map(found);
}

/** The formats in which bots show messages. */
const FORMATS = ["text", "json", "toon"] as const;
export type Format = typeof FORMATS[number];

/**
 * The format among the parameters of a command.
 *
 * @throws Invalid if there is no such format
 */
export function formatIn(parameters: ReadonlyMap<string, string>): Format {
  const wanted = parameters.get("format")?.toLowerCase() ?? "text";
  const format = FORMATS.find((one) => one === wanted);
  if (format === undefined) throw new Invalid(`"format" must be one of ${FORMATS.join(", ")}`);
  return format;
}

/** Messages as lines of a format. `toon` is a table with a header (Token-Oriented Object Notation). */
export function formatted(messages: readonly ChannelMessage[], format: Format): string[] {
  switch (format) {
    case "text":
      return messages.map(({ timestamp, nick, text }) => `${timestamp} <${nick}> ${text}`);
    case "json":
      return messages.map(({ timestamp, nick, account, text }) =>
        JSON.stringify({ timestamp, nick, account, text })
      );
    case "toon":
      return [
        `messages[${messages.length}]{timestamp,nick,text}:`,
        ...messages.map(({ timestamp, nick, text }) =>
          `${timestamp},${nick},${JSON.stringify(text)}`
        ),
      ];
  }
}

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

/** How often a bot that moderates has acted. */
export function measuresOf(
  { warn, mute, kick }: { readonly warn: number; readonly mute: number; readonly kick: number },
): string {
  return `${amount(warn, "warning")}, ${amount(mute, "mute")}, ${amount(kick, "kick")}`;
}

/** The answer to a command that lacks its channel, or names none. */
export const NO_CHANNEL = "Name a channel, such as #general";
