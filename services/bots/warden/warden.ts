import { amount } from "../../amount.ts";
import { PURPOSES } from "../../policies/mod.ts";
import type { JudgedMessage } from "../../irc/mod.ts";
import { type Mute, subjectOf } from "../../irc_server/mutes/mod.ts";
import type { AccountDirectory } from "../../identity/mod.ts";
import { readAddress } from "../addressing.ts";
import { type BotContext, defineBot, type Speaker } from "../bot.ts";
import {
  type ModeratedServer,
  type Moderating,
  moderationCommands,
  Moderator,
} from "../moderation/mod.ts";
import { measuresOf } from "../words.ts";
import { Escalation, type Step } from "./escalation.ts";
import { Rates } from "./rates.ts";
import { type Pattern, Repetition } from "./repetition.ts";

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
