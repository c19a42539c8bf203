import { amount } from "../../kernel/words.ts";
import { ServiceError } from "../../kernel/errors.ts";
import { foldCase, isChannelName } from "../../engines/irc/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { TokenBucket } from "../../kernel/token_bucket.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import {
  ANSWER_LINES,
  type BotCommand,
  type BotCommandCall,
  type BotDefinition,
  type BotInstance,
  type Speaker,
} from "./bot.ts";
import { NO_CHANNEL } from "./readable.ts";
import type { BotVoices } from "./voices.ts";

/** Who gives a command, and where. */
export interface CommandPlace {
  readonly speaker: Speaker;
  /** Null for a private message. */
  readonly channel: string | null;
}

/** Sends lines to where a command was given, or to its speaker alone. */
type AnswerTo = (lines: readonly string[], isPrivate: boolean) => void;

/** A command that may be executed. */
interface FoundCommand {
  readonly command: BotCommand<BotInstance>;
  readonly call: BotCommandCall;
}

/** Most commands that one speaker gives at once, and in a second after that. */
const RATE = { perSecond: 1, burst: 10 };

/** Most speakers whose rate is remembered. */
const MAX_SPEAKERS = 1000;

interface CommandsOptions {
  readonly voices: Pick<BotVoices, "isChannelOperator">;
  readonly scheduler: Scheduler;
}

/** The commands of one bot: finds them, checks who gives them, and executes them. */
export class Commands {
  readonly #bot: BotDefinition;
  readonly #options: CommandsOptions;
  readonly #rates = new BoundedMap<string, TokenBucket>(MAX_SPEAKERS);

  constructor(bot: BotDefinition, options: CommandsOptions) {
    this.#bot = bot;
    this.#options = options;
  }

  /**
   * Reads a text that addresses the bot. What is no command, or one that the speaker may not give,
   * is answered here.
   *
   * @returns the command; null if there is nothing to execute
   */
  find(text: string, place: CommandPlace, answer: AnswerTo): FoundCommand | null {
    if (!this.#admit(place.speaker, answer)) return null;
    const [first = "", ...words] = text.split(/\s+/).filter((word) => word !== "");
    const name = first.toUpperCase();
    if (name === "HELP" || name === "") {
      answer(this.#help(words[0]), false);
      return null;
    }
    const command = this.#bot.commands.find((one) => one.name === name);
    if (command === undefined) {
      answer([`There is no such command. "HELP" lists mine.`], false);
      return null;
    }
    const rest = text.trimStart().slice(first.length).trim();
    const subject = words.find(isChannelName) ?? place.channel;
    const call = { speaker: place.speaker, channel: place.channel, words, text: rest, subject };
    const refusal = words.length < (command.words ?? 0)
      ? `Say ${usageOf(command)}`
      : this.#refusal(command, call);
    if (refusal === null) return { command, call };
    answer([refusal], command.isPrivate === true);
    return null;
  }

  /** Executes a command. Rejects if the bot throws something else than a ServiceError. */
  async run({ command, call }: FoundCommand, bot: BotInstance, answer: AnswerTo): Promise<void> {
    const isPrivate = command.isPrivate === true;
    try {
      const given = await command.run(bot, call) ?? [];
      const lines = typeof given === "string" ? [given] : given;
      const most = command.lines ?? ANSWER_LINES;
      const left = lines.length - most;
      answer(
        left <= 0 ? lines : [...lines.slice(0, most), `… and ${amount(left, "more line")}`],
        isPrivate,
      );
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      answer([error.message], isPrivate);
    }
  }

  #help(subject: string | undefined): string[] {
    const { name: bot, purpose, commands } = this.#bot;
    if (subject === undefined) {
      const names = commands.map(({ name }) => name).join(", ");
      return [`${purpose} Commands: ${names}. "HELP command" explains one.`];
    }
    const command = commands.find(({ name }) => name === subject.toUpperCase());
    if (command === undefined) return [`There is no such command. "HELP" lists mine.`];
    return [`${bot}: ${usageOf(command)} – ${command.purpose}${RIGHTS[command.may]}`];
  }

  /** Why the speaker may not give the command; null if the speaker may. */
  #refusal({ may }: BotCommand<BotInstance>, { speaker, subject }: BotCommandCall): string | null {
    if (speaker.kind === "admin" || may === "anyone") return null;
    if (may === "admin") return "Only admins may do that";
    if (speaker.kind === null) return "Log in to your account first";
    if (may === "account") return null;
    if (subject === null) return NO_CHANNEL;
    const isOperator = this.#options.voices.isChannelOperator(speaker.nick, subject);
    return isOperator ? null : `Only operators of ${subject} may do that`;
  }

  /** Whether the speaker's rate allows another command. */
  #admit({ nick, account }: Speaker, answer: AnswerTo): boolean {
    const key = account ?? `${nick} `;
    const now = this.#options.scheduler.now();
    const bucket = this.#rates.use(key, () => new TokenBucket(RATE, now));
    if (bucket.tryTake(now) === 0) return true;
    // The refusal costs the next turn: so it is said once, not for each command of a flood.
    if (bucket.delay(now, 0) === 0) {
      bucket.take(now);
      answer(["You give commands faster than I answer. Wait a few seconds."], true);
    }
    return false;
  }
}

/** What HELP adds about who may give a command. */
const RIGHTS = {
  anyone: "",
  account: " (for users with an account)",
  channelOperator: " (for operators of the channel)",
  admin: " (for admins)",
} as const;

function usageOf({ name, usage }: BotCommand<BotInstance>): string {
  return `${name} ${usage}`.trimEnd();
}

/** A command that addresses a bot. */
interface Addressed {
  /** The folded name that it addresses. */
  readonly name: string;
  /** Everything after that. */
  readonly text: string;
}

const FORM = /^(?:!([^\s:,]+)(?:\s+|$)|([^\s:,]+)[:,](?:\s+|$))/;

/**
 * Finds whom a message in a channel addresses: `oracle: text`, `oracle, text` or `!oracle text`.
 * Null if it addresses nobody in these ways. No other part of a text is read.
 */
export function readAddress(text: string): Addressed | null {
  const found = FORM.exec(text);
  const name = found?.[1] ?? found?.[2];
  if (found === null || name === undefined) return null;
  return { name: foldCase(name), text: text.slice(found[0].length).trim() };
}
