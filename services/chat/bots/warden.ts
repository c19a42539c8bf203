import { amount } from "../../kernel/words.ts";
import { parseEnvelope } from "../bridge/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import type { JudgedMessage } from "../../engines/irc/mod.ts";
import { type Mute, subjectOf } from "../irc_server/mutes/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { type Rate, TokenBucket } from "../../kernel/token_bucket.ts";
import { PURPOSES } from "../policies/mod.ts";
import { type BotContext, defineBot, type Speaker } from "./bot.ts";
import { readAddress } from "./commands.ts";
import {
  type ModeratedServer,
  type Moderating,
  moderationCommands,
  Moderator,
} from "./moderation.ts";
import { measuresOf } from "./readable.ts";

/** Shortest mute, in milliseconds, whatever the settings say. */
const SHORTEST_MUTE = 1000;

/** Mutes that STATUS names. */
const SHOWN_MUTES = 10;

/** What the warden needs beside what every bot gets. */
export interface WardenParts {
  readonly server: ModeratedServer;
  readonly accounts: Pick<AccountDirectory, "find">;
}

/** A message that broke a rule. */
interface Violation {
  readonly reason: string;
  /** Where a mute for it holds; null: in all channels. */
  readonly place: string | null;
  /** Whether it takes the next step at once. */
  readonly isWhole: boolean;
}

/**
 * Judges each message to a channel before anybody receives it: refuses what is too fast, repeats
 * itself or keeps two speakers answering each other, and warns, mutes and kicks those who go on.
 */
class Warden implements Moderating {
  readonly moderator: Moderator;
  readonly #context: BotContext<"warden">;
  readonly #parts: WardenParts;
  #rates = new Rates();
  readonly #repetition = new Repetition();
  readonly #escalation = new Escalation();
  readonly #counts = { refused: 0, warn: 0, mute: 0, kick: 0 };
  #settings: ReturnType<BotContext<"warden">["settings"]>;

  constructor(context: BotContext<"warden">, parts: WardenParts) {
    this.#context = context;
    this.#parts = parts;
    this.#settings = context.settings();
    this.moderator = new Moderator(context, parts.server);
    parts.server.mutes.setJudge(this);
  }

  settingsChanged(): void {
    this.#settings = this.#context.settings();
    // What was said under other limits counts against nobody.
    this.#rates = new Rates();
  }

  stop(): void {
    this.#parts.server.mutes.setJudge(null);
  }

  /** Any failure is the bot's, and the message is delivered. */
  judge(message: JudgedMessage): string | null {
    try {
      return this.#judge(message);
    } catch (error) {
      this.#context.after(0, () => {
        throw error;
      });
      return null;
    }
  }

  usualMute(): number {
    return Math.max(this.#settings.cooldown_sec * 1000, SHORTEST_MUTE);
  }

  forgive({ subject }: Mute): void {
    this.#escalation.forget(subject);
  }

  /** The frame has checked that the speaker is operator of the channel or an admin. */
  requireRight(): void {}

  status(speaker: Speaker): string[] {
    const { messages_per_second: perSecond, burst, cooldown_sec: cooldown } = this.#settings;
    const mutes = this.moderator.mutesFor(speaker);
    const more = mutes.length - SHOWN_MUTES;
    return [
      `${
        amount(perSecond, "message")
      } per second after ${burst} at once; mutes last ${cooldown} seconds`,
      `By myself since the start: ${amount(this.#counts.refused, "message")} refused, ${
        measuresOf(this.#counts)
      }`,
      ...mutes.slice(0, SHOWN_MUTES),
      ...more > 0 ? [`… and ${amount(more, "more mute")}`] : [],
    ];
  }

  #judge(message: JudgedMessage): string | null {
    const { sender, isOperator, command, channel, time } = message;
    if (isOperator || command === "TAGMSG") return null;
    const speaker = subjectOf(this.#parts.accounts, sender);
    const violation = this.#violation(message, speaker);
    if (violation === null) return null;
    this.#counts.refused++;
    const round = Math.max(this.#settings.burst, 1);
    const patience = { violations: round, cooldown: this.usualMute() };
    const step = this.#escalation.add(speaker, violation.isWhole ? round : 1, patience, time);
    if (step !== null) this.#take(step, message, violation);
    return `${violation.reason} ${channel} did not get this message`;
  }

  #violation({ channel, text, time, sender }: JudgedMessage, speaker: string): Violation | null {
    const { messages_per_second: perSecond, burst } = this.#settings;
    const lines = text.includes("\n") ? text.split("\n").length : 1;
    const isProgram = this.#isProgram(sender);
    const pattern = this.#repetition.add(channel, { speaker, isProgram, text, time });
    if (pattern !== null && !(pattern === "loop" && this.#isPersonsCommand(sender, text))) {
      if (pattern === "ping_pong") this.#repetition.forget(channel);
      return { reason: PATTERNS[pattern], place: channel, isWhole: true };
    }
    if (this.#rates.admits(speaker, { perSecond, burst }, time, lines)) return null;
    const reason = `You send more than ${amount(perSecond, "message")} per second.`;
    return { reason, place: null, isWhole: false };
  }

  /** People give the same command again, and `!resume` must work each time. */
  #isPersonsCommand({ account }: JudgedMessage["sender"], text: string): boolean {
    if (account === null || readAddress(text) === null) return false;
    const kind = this.#parts.accounts.find(account)?.kind;
    return kind === "person" || kind === "admin";
  }

  #isProgram({ nick, account }: JudgedMessage["sender"]): boolean {
    if (account !== null && this.#parts.accounts.find(account)?.kind === "agent") return true;
    return this.#parts.server.present(nick)?.isBot === true;
  }

  /** Acts after the message is refused: a kick must not take its channel away meanwhile. */
  #take(step: Step, { sender, channel }: JudgedMessage, { reason, place }: Violation): void {
    this.#counts[step]++;
    if (step === "warn") return this.moderator.warn(sender, { channel: place, reason });
    if (step === "mute") {
      this.moderator.mute(sender, { channel: place, reason }, this.usualMute())
        .catch((error: unknown) => this.#context.log.warn("A mute is not on disk", { error }));
      return;
    }
    this.#context.after(0, () => {
      try {
        this.moderator.kick(sender, { channel, reason });
      } catch (error) {
        // It has left, or became operator meanwhile.
        this.#context.log.debug("The warden could not remove somebody", { channel, error });
      }
    });
  }
}

const PATTERNS: Readonly<Record<Pattern, string>> = {
  loop: "You have said the same three times: say something else or nothing.",
  ping_pong: "You two answer each other without end: do not answer this.",
};

/** The bot that keeps channels usable. It works on the IRC server of this program only. */
export function warden(parts: WardenParts) {
  return defineBot<"warden", Warden>({
    name: "warden",
    purpose: PURPOSES.warden,
    commands: [
      ...moderationCommands<Warden>("channelOperator"),
      {
        name: "STATUS",
        usage: "",
        purpose: "the limits, what was done, and who is muted",
        may: "account",
        run: (bot, { speaker }) => bot.status(speaker),
      },
    ],
    start: (context) => new Warden(context, parts),
  });
}

/** Most speakers whose violations, or whose rates, are known at one time. */
const MAX_SPEAKERS = 10_000;

/** Violations are forgotten after this many cooldowns without another one. */
const REMEMBERED_COOLDOWNS = 3;

/** What is done about violations, from the mildest to the hardest. */
const STEPS = ["warn", "mute", "kick"] as const;
type Step = (typeof STEPS)[number];

/** The settings of the steps. */
interface Patience {
  /** Violations from one step to the next. */
  readonly violations: number;
  /** In milliseconds. */
  readonly cooldown: number;
}

interface Account {
  violations: number;
  /** How many steps were taken. */
  steps: number;
  /** Unix milliseconds of the last violation. */
  at: number;
}

/**
 * Decides what a speaker's violations lead to: the first one to a warning; as many more as the
 * patience allows to a mute; as many again to a kick, and every further round to another kick.
 */
export class Escalation {
  readonly #records = new BoundedMap<string, Account>(MAX_SPEAKERS);

  /**
   * Counts violations.
   *
   * @param amount how many; a whole round leads to the next step at once
   * @param now Unix milliseconds
   * @returns the step to take now, or null
   */
  add(speaker: string, amount: number, patience: Patience, now: number): Step | null {
    const { violations, cooldown } = patience;
    const fresh = { violations: 0, steps: 0, at: now };
    const record = this.#records.use(speaker, () => fresh);
    if (now - record.at > cooldown * REMEMBERED_COOLDOWNS) Object.assign(record, fresh);
    record.at = now;
    record.violations += amount;
    if (record.violations <= record.steps * violations) return null;
    const step = STEPS[record.steps] ?? "kick";
    if (step === "kick") record.violations = violations + 1;
    else record.steps += 1;
    return step;
  }

  /** Forgets a speaker's violations, because somebody forgave them. */
  forget(speaker: string): void {
    this.#records.delete(speaker);
  }
}

/** Counts what each speaker says, in all channels together. */
export class Rates {
  readonly #buckets = new BoundedMap<string, TokenBucket>(MAX_SPEAKERS);

  /**
   * Counts the lines of one message; one that is longer than the burst counts as a whole burst.
   *
   * @param rate a `perSecond` of 0 is no limit
   * @param now Unix milliseconds
   * @returns whether the rate allows it; a message that it refuses costs nothing
   */
  admits(speaker: string, rate: Rate, now: number, lines = 1): boolean {
    if (rate.perSecond <= 0) return true;
    const bucket = this.#buckets.use(speaker, () => new TokenBucket(rate, now));
    bucket.follow(rate, now);
    return bucket.tryTake(now, Math.min(lines, Math.max(rate.burst, 1))) === 0;
  }
}

/** Most channels whose last messages are known at one time. */
const MAX_CHANNELS = 2000;

/** Repeated often enough among the last messages of a channel, a text is a loop. */
const LOOP = { times: 3, among: 10 } as const;

/** Messages of two speakers in turn, when each says little that is new. */
const SHORT_EXCHANGE = 8;
const MAX_DIFFERENT_TEXTS = 2;

/** Messages of two programs in turn, whatever they say. */
const LONG_EXCHANGE = 20;

/** Older messages belong to no loop and to no exchange, in milliseconds. */
const MAX_AGE = 120_000;

/** Characters of a text that are compared, beside its length. */
const COMPARED = 200;

/** What is wrong with a message, given the ones before it. */
export type Pattern = "loop" | "ping_pong";

/** A message, for the comparison with others. */
interface Utterance {
  readonly speaker: string;
  /** Whether a program says it. */
  readonly isProgram: boolean;
  readonly text: string;
  /** Unix milliseconds. */
  readonly time: number;
}

interface Noted {
  readonly speaker: string;
  readonly isProgram: boolean;
  /** Equal for texts that say the same. */
  readonly saying: string;
  readonly time: number;
}

/**
 * Finds speakers that repeat themselves, and pairs of speakers that answer each other without end.
 * Two people may take turns as long as they like if they say something new.
 */
export class Repetition {
  readonly #channels = new BoundedMap<string, Noted[]>(MAX_CHANNELS);

  /** Adds a message to its channel. Returns the pattern that it completes, or null. */
  add(channel: string, { speaker, isProgram, text, time }: Utterance): Pattern | null {
    const noted = this.#channels.use(channel, () => []);
    noted.push({ speaker, isProgram, saying: sayingOf(text), time });
    while (noted.length > LONG_EXCHANGE) noted.shift();
    const recent = noted.filter((message) => time - message.time <= MAX_AGE);
    if (isLoop(recent)) return "loop";
    return isPingPong(recent) ? "ping_pong" : null;
  }

  /** Forgets what was said in a channel, after an exchange in it was stopped. */
  forget(channel: string): void {
    this.#channels.delete(channel);
  }
}

function isLoop(recent: readonly Noted[]): boolean {
  const last = recent.at(-1);
  const same = recent.slice(-LOOP.among).filter(({ speaker, saying }) =>
    speaker === last?.speaker && saying === last.saying
  );
  return same.length >= LOOP.times;
}

function isPingPong(recent: readonly Noted[]): boolean {
  const short = recent.slice(-SHORT_EXCHANGE);
  if (isExchange(short, SHORT_EXCHANGE)) {
    const [one, other] = [0, 1].map((side) =>
      new Set(short.filter((_, index) => index % 2 === side).map(({ saying }) => saying)).size
    );
    if (Math.max(one ?? 0, other ?? 0) <= MAX_DIFFERENT_TEXTS) return true;
  }
  return isExchange(recent, LONG_EXCHANGE) && recent.every(({ isProgram }) => isProgram);
}

/** Whether two speakers, and nobody else, take turns. */
function isExchange(messages: readonly Noted[], length: number): boolean {
  if (messages.length < length || messages[0]?.speaker === messages[1]?.speaker) return false;
  return messages.every(({ speaker }, index) => speaker === messages[index % 2]?.speaker);
}

/** Ids and times of envelopes differ even if they say the same. */
function sayingOf(text: string): string {
  const envelope = text.startsWith("{") ? parseEnvelope(text) : null;
  const said = envelope === null
    ? text.trim().toLowerCase().replace(/\s+/g, " ")
    : JSON.stringify([envelope.type, envelope.payload]);
  return `${said.length}:${said.slice(0, COMPARED)}`;
}

/** The warden: see warden.ts. */
