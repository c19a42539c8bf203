import { amount } from "../../kernel/words.ts";
import { PURPOSES } from "../policies/mod.ts";
import type { ChannelMessage } from "../bridge/mod.ts";
import { Conflict, Invalid } from "../../kernel/errors.ts";
import { type BotCommandCall, type BotContext, defineBot } from "./bot.ts";
import {
  type ChannelHistory,
  formatIn,
  formatted,
  newestMessages,
  parametersIn,
  readableChannel,
} from "./readable.ts";

/** Lines at once after a silence. */
const BURST = 10;

/** In place of no limit. */
const UNLIMITED = 1_000_000;

/** Lines of a replay beside its messages: its title, and the header of a format. */
const HEAD_LINES = 2;

/** Most lines of an answer, whatever the settings say. */
const MOST_LINES = 1000;

/** Replays what was said in a channel to one user. */
class Scroll {
  readonly #context: BotContext<"scroll">;
  readonly #history: ChannelHistory;

  constructor(context: BotContext<"scroll">, history: ChannelHistory) {
    this.#context = context;
    this.#history = history;
  }

  /** @throws Invalid, NotFound, Conflict */
  async replay(call: BotCommandCall): Promise<string[]> {
    const { max_lines: most } = this.#context.settings();
    if (most === 0) throw new Conflict("Replays are turned off");
    const parameters = parametersIn(call.words);
    const format = formatIn(parameters);
    const last = Number(parameters.get("last") ?? most);
    if (!Number.isInteger(last) || last < 1) throw new Invalid('"last" must be a whole number');
    const channel = readableChannel(this.#context, call);
    const limit = Math.min(last, most, MOST_LINES - HEAD_LINES);
    const messages = await this.#read(channel, parameters.get("since"), limit);
    if (messages.length === 0) return [`Nothing was said in ${channel}`];
    const head = `${channel}: ${amount(messages.length, "message")}`;
    return [head, ...formatted(messages, format)];
  }

  async #read(
    channel: string,
    since: string | undefined,
    limit: number,
  ): Promise<readonly ChannelMessage[]> {
    if (since === undefined) return await newestMessages(this.#history, channel, limit);
    return await this.#history.messages(channel, { limit, since: timeOf(since) });
  }
}

/** A time as readers of channels take it: ISO 8601, Unix milliseconds, or the id of a message. */
function timeOf(since: string): string {
  return /^\d{10,16}$/.test(since) ? new Date(Number(since)).toISOString() : since;
}

/** The bot that replays what was said in a channel to those who may read it. */
export function scroll(history: ChannelHistory) {
  return defineBot<"scroll", Scroll>({
    name: "scroll",
    purpose: PURPOSES.scroll,
    commands: [
      {
        name: "REPLAY",
        usage: "[#channel] [last=n] [since=time] [format=text|json|toon]",
        purpose: "what was said in a channel, by NOTICE",
        may: "anyone",
        isPrivate: true,
        lines: MOST_LINES,
        run: (bot, call) => bot.replay(call),
      },
    ],
    pace: ({ rate_limit: rate }) => {
      return rate === 0 ? { perSecond: UNLIMITED, burst: UNLIMITED } : {
        perSecond: rate,
        burst: BURST,
      };
    },
    start: (context) => new Scroll(context, history),
  });
}
