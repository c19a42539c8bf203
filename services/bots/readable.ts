import type { ChannelMessage } from "../bridge/mod.ts";
import { Invalid, NotFound } from "../errors.ts";
import { foldCase } from "../irc/mod.ts";
import type { BotCommandCall, BotContext, BotName } from "./bot.ts";
import { NO_CHANNEL } from "./words.ts";

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
