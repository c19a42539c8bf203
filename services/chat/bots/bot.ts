import type { ChannelActivity, ChannelMessage } from "../bridge/mod.ts";
import type { EventTypes, Origin } from "../../engines/events/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { BotSettings, KnownBot } from "../policies/mod.ts";
import type { BotState } from "./bot_state.ts";
import type { Question } from "./model_calls.ts";

/** The names of the bots. The bridge has settings too, and is none. */
export type BotName = Exclude<KnownBot, "bridge">;

/**
 * Who gives a command. Everything but the nick is proven: it follows from the account that the IRC
 * server or the credential proves, and never from a text.
 */
export interface Speaker {
  readonly nick: string;
  /** Null for a guest. */
  readonly account: string | null;
  /** The kind of the account; null for a guest and for an account that muster does not know. */
  readonly kind: "agent" | "person" | "admin" | null;
  /** The internal id of the account; null with a null kind. */
  readonly id: string | null;
}

/**
 * Who may give a command: everybody, users with an account that muster knows, operators of the
 * channel that it is about, or admins. An admin may give every command.
 */
export type Right = "anyone" | "account" | "channelOperator" | "admin";

/** What a bot answers: lines; nothing for no answer. */
export type Answer = string | readonly string[] | void;

/** A command as it was given. */
export interface BotCommandCall {
  readonly speaker: Speaker;
  /** The channel in which it was given; null for a private message. */
  readonly channel: string | null;
  /** The words after the command's name. */
  readonly words: readonly string[];
  /** The text after the command's name, without spaces around it. */
  readonly text: string;
  /** The channel that it is about: the first word that names one, or else {@link channel}. */
  readonly subject: string | null;
}

/** A command of a bot. */
export interface BotCommand<Instance> {
  /** In capitals. */
  readonly name: string;
  /** Its parameters, such as `nick [#channel]`; empty for none. */
  readonly usage: string;
  /** What it does, in one line. */
  readonly purpose: string;
  readonly may: Right;
  /** The number of required words; 0 if absent. */
  readonly words?: number;
  /** Whether the speaker alone gets the answer, also if the command was given in a channel. */
  readonly isPrivate?: boolean;
  /** Most lines of its answer; the default is {@link ANSWER_LINES}. */
  readonly lines?: number;
  /** @throws ServiceError, whose message is the answer */
  run(instance: Instance, call: BotCommandCall): Answer | Promise<Answer>;
}

/** Most lines of an answer. */
export const ANSWER_LINES = 20;

/**
 * A running bot. Its methods are called one after the other, in the order of what happened. If one
 * throws or rejects, the bot is stopped and started again later.
 */
export interface BotInstance {
  /** A message in a channel that the bot is in; its own and those of other bots are among them. */
  message?(message: BotMessage): void | Promise<void>;
  /** Somebody entered or left such a channel, or changed nick. */
  activity?(activity: ChannelActivity): void | Promise<void>;
  /** The bot's settings have changed. */
  settingsChanged?(): void | Promise<void>;
  /** Ends it. Timers end by themselves. */
  stop?(): void | Promise<void>;
}

/** A message in a channel. */
export interface BotMessage extends ChannelMessage {
  readonly channel: string;
  readonly speaker: Speaker;
  /** Whether a bot said it: one of muster's, the bridge for the program, or one marked as such. */
  readonly isFromBot: boolean;
}

/** How a bot says something in a channel. */
export interface SayOptions {
  /** Whether agents whom it names get it in their inboxes; by default they do not. */
  readonly mentions?: boolean;
}

/** What a bot may use. */
export interface BotContext<Name extends BotName> {
  readonly name: Name;
  /** The present settings. Read them when they are needed: they may change at any time. */
  settings(): BotSettings<Name>;
  /** The channels that the bot is in, sorted. */
  channels(): readonly string[];
  /** Enters a channel that the settings name, in addition to those of the bridge. */
  enter(channel: string): Promise<void>;
  /** Says lines in a channel; they are queued, and sent at the bot's pace. */
  say(channel: string, lines: string | readonly string[], options?: SayOptions): void;
  /**
   * Says lines in a channel as {@linkcode say} does. Resolves when IRC has them.
   *
   * @throws Unavailable if IRC is away, or the bot has stopped; another ServiceError if IRC refuses a
   * line, or too many wait
   */
  deliver(channel: string, lines: readonly string[]): Promise<void>;
  /** Sends lines to one user, by NOTICE where the bot is a user of the server. */
  tell(nick: string, lines: string | readonly string[]): void;
  /**
   * Removes a user from a channel.
   *
   * @returns the reason if that is not possible, or null
   */
  kick(channel: string, nick: string, reason: string): string | null;
  /**
   * Changes modes of a channel, such as `+b` and `m:bob!*@*`.
   *
   * @returns the reason if that is not possible, or null
   */
  changeModes(channel: string, changes: readonly string[]): Promise<string | null>;
  /** Logs an event, with the bot or the speaker as its actor. Never throws. */
  record<Type extends keyof EventTypes>(
    type: Type,
    data: EventTypes[Type],
    speaker?: Speaker,
  ): void;
  /** What the bot keeps across restarts. */
  readonly state: BotState;
  /** Unix milliseconds. */
  now(): number;
  /** Runs a task once after so many milliseconds, unless the bot stops; returns its cancellation. 0 is the next turn. */
  after(milliseconds: number, task: () => void | Promise<void>): () => void;
  /** Whether a speaker may read a channel, as IRC would let it. */
  mayRead(speaker: Speaker, channel: string): boolean;
  /** Whether a nick is operator in a channel; false where muster does not run the IRC server. */
  isChannelOperator(nick: string, channel: string): boolean;
  /** Whether a nick is in a channel. */
  isIn(nick: string, channel: string): boolean;
  /** Whether a nick is that of a bot of muster, or of the bridge. */
  isBot(nick: string): boolean;
  /** The origin of a change that the bot makes by itself, or because a speaker told it to. */
  originOf(speaker?: Speaker): Origin;
  /** The accounts, proven or named, as the registry knows them: by account name. */
  speakerOf(nick: string, account: string | null): Speaker;
  /**
   * Asks a model with the bot as the caller.
   *
   * @returns the answer; null if the settings name no backend
   * @throws ServiceError if the backend fails
   */
  ask(question: Question): Promise<string | null>;
  readonly log: Log;
}

/**
 * A bot, as its file defines it.
 *
 * @template Instance what `start` makes; a bot that hears something implements {@link BotInstance}
 */
export interface BotPlan<Name extends BotName, Instance extends object> {
  readonly name: Name;
  /** What it does, in one line; shown by HELP and WHOIS. */
  readonly purpose: string;
  readonly commands: readonly BotCommand<Instance>[];
  /** Lines that it may say in a second, and at once after a silence; a default if absent. */
  pace?(settings: BotSettings<Name>): { readonly perSecond: number; readonly burst: number };
  start(context: BotContext<Name>): Instance | Promise<Instance>;
}

/** A bot without the types of its settings and of its instance. */
export interface BotDefinition
  extends Omit<BotPlan<BotName, BotInstance>, "start" | "pace" | "commands"> {
  readonly commands: readonly BotCommand<BotInstance>[];
  start(context: BotContext<BotName>): BotInstance | Promise<BotInstance>;
  pace?(settings: unknown): { readonly perSecond: number; readonly burst: number };
}

/** Where a bot comes from: its definition is loaded when its policy first enables it. */
export interface BotSource {
  readonly name: BotName;
  load(): Promise<BotDefinition>;
}

/** Defines a bot. */
export function defineBot<Name extends BotName, Instance extends object>(
  plan: BotPlan<Name, Instance>,
): BotDefinition {
  // The frame passes an instance only to the commands of the plan that made it.
  return plan as unknown as BotDefinition;
}
