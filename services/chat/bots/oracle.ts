import { PURPOSES } from "../policies/mod.ts";
import type { ChannelMessage } from "../bridge/mod.ts";
import { Invalid, ServiceError, TooMany } from "../../kernel/errors.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { type BotCommandCall, type BotContext, defineBot } from "./bot.ts";
import {
  type ChannelHistory,
  digestOf,
  type Format,
  formatIn,
  formatted,
  newestMessages,
  parametersIn,
  readableChannel,
} from "./readable.ts";

/** Messages that a summary covers by default, and at most. */
const COVERED = 50;
const MOST_COVERED = 200;

/** Questions to the bot that may be among these. */
const QUESTIONS = 10;

/** Least time between two calls of a model for one speaker, in milliseconds. */
const PAUSE_MS = 30_000;

/** Most speakers whose last call is remembered. */
const MAX_SPEAKERS = 1000;

const MAX_TOKENS = 512;

const INSTRUCTIONS = "Sum up this part of a chat between agents and people for somebody who was " +
  "away. Name decisions, actions, their outcomes, and open questions, with the nicks of those " +
  "concerned. Write at most eight short plain lines, without Markdown.";

/** Sums up channels: by a model if its settings name a backend, or else by counting and quoting. */
class Oracle {
  readonly #context: BotContext<"oracle">;
  readonly #history: ChannelHistory;
  /** When each speaker last had a model called, in Unix milliseconds. */
  readonly #calledAt = new BoundedMap<string, number>(MAX_SPEAKERS);

  constructor(context: BotContext<"oracle">, history: ChannelHistory) {
    this.#context = context;
    this.#history = history;
  }

  /** @throws Invalid, NotFound, TooMany */
  async summarize(call: BotCommandCall): Promise<string[]> {
    const { channel, messages, format } = await this.#read(call);
    const { backend, model } = this.#context.settings();
    if (messages.length === 0 || backend === undefined || backend === "") {
      return shown(channel, digestOf(channel, messages), format);
    }
    this.#admit(call.speaker.account ?? call.speaker.nick);
    try {
      const answer = await this.#context.ask({
        backend,
        model,
        instructions: INSTRUCTIONS,
        quoted: formatted(messages, "text").join("\n"),
        maxTokens: MAX_TOKENS,
      });
      const lines = (answer ?? "").split("\n").filter((line) => line.trim() !== "");
      return shown(
        channel,
        [`${channel}, the last ${messages.length} messages:`, ...lines],
        format,
      );
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const reason = `The backend "${backend}" fails (${error.message}). Instead:`;
      return shown(channel, [reason, ...digestOf(channel, messages)], format);
    }
  }

  /** @throws Invalid, NotFound */
  async digest(call: BotCommandCall): Promise<string[]> {
    const { channel, messages, format } = await this.#read(call);
    return shown(channel, digestOf(channel, messages), format);
  }

  async #read(call: BotCommandCall): Promise<{
    readonly channel: string;
    readonly messages: readonly ChannelMessage[];
    readonly format: Format;
  }> {
    const parameters = parametersIn(call.words);
    const format = formatIn(parameters);
    const last = Number(parameters.get("last") ?? COVERED);
    if (!Number.isInteger(last) || last < 1) throw new Invalid('"last" must be a whole number');
    const channel = readableChannel(this.#context, call);
    const most = Math.min(last, MOST_COVERED);
    const found = await newestMessages(this.#history, channel, most + QUESTIONS);
    // The question itself is no part of the answer.
    const messages = found.filter(({ text }) => !/^(!oracle\b|oracle[:,])/i.test(text))
      .slice(-most);
    return { channel, messages, format };
  }

  /** @throws TooMany if the speaker had a model called a moment ago */
  #admit(speaker: string): void {
    const now = this.#context.now();
    const pause = PAUSE_MS - (now - (this.#calledAt.get(speaker) ?? -Infinity));
    if (pause > 0) {
      const seconds = Math.ceil(pause / 1000);
      throw new TooMany(`Ask again in ${seconds} seconds; DIGEST answers at once`, seconds);
    }
    this.#calledAt.set(speaker, now);
  }
}

/** A summary in a format. */
function shown(channel: string, lines: readonly string[], format: Format): string[] {
  switch (format) {
    case "text":
      return [...lines];
    case "json":
      return [JSON.stringify({ channel, summary: lines.join("\n") })];
    case "toon":
      return [
        `channel: ${channel}`,
        `summary[${lines.length}]:`,
        ...lines.map((line) => `- ${line}`),
      ];
  }
}

/** The bot that sums up channels. */
export function oracle(history: ChannelHistory) {
  const usage = "[#channel] [last=n] [format=text|json|toon]";
  return defineBot<"oracle", Oracle>({
    name: "oracle",
    purpose: PURPOSES.oracle,
    commands: [
      {
        name: "SUMMARIZE",
        usage,
        purpose: "a summary of a channel, by a model where one is configured",
        may: "account",
        isPrivate: true,
        run: (bot, call) => bot.summarize(call),
      },
      {
        name: "DIGEST",
        usage,
        purpose: "who spoke, the states of tasks, and the last lines, without a model",
        may: "anyone",
        isPrivate: true,
        run: (bot, call) => bot.digest(call),
      },
    ],
    start: (context) => new Oracle(context, history),
  });
}
