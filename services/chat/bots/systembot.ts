import { PURPOSES } from "../policies/mod.ts";
import type { ChannelActivity } from "../bridge/mod.ts";
import { type BotCommandCall, type BotContext, type BotInstance, defineBot } from "./bot.ts";
import { countIn, readableChannel } from "./readable.ts";

/** Things that happened that it remembers. */
const MAX_REMEMBERED = 500;

/** Things that RECENT shows by default, and at most. */
const SHOWN = 10;
const MOST_SHOWN = 50;

/** Members that WHO names. */
const MOST_NAMED = 60;

interface Remembered {
  readonly time: number;
  readonly channel: string;
  readonly text: string;
}

/** What the bot asks about the server. */
export interface SystemFacts {
  /** One line about the state of the server. */
  status(): string;
  /** The nicks in a channel, sorted. */
  users(channel: string): Promise<readonly string[]>;
}

/** Tells who entered and left channels, and how the server is. */
class Systembot implements BotInstance {
  readonly #context: BotContext<"systembot">;
  readonly #facts: SystemFacts;
  readonly #remembered: Remembered[] = [];

  constructor(context: BotContext<"systembot">, facts: SystemFacts) {
    this.#context = context;
    this.#facts = facts;
  }

  activity(activity: ChannelActivity): void {
    const text = wordsFor(activity);
    this.#remembered.push({ time: this.#context.now(), channel: activity.channel, text });
    if (this.#remembered.length > MAX_REMEMBERED) this.#remembered.shift();
  }

  status(): string {
    return this.#facts.status();
  }

  async who(call: BotCommandCall): Promise<string> {
    const channel = readableChannel(this.#context, call);
    const users = await this.#facts.users(channel);
    const more = users.length > MOST_NAMED ? ` and ${users.length - MOST_NAMED} more` : "";
    return `${channel} has ${users.length}: ${users.slice(0, MOST_NAMED).join(" ")}${more}`;
  }

  recent(call: BotCommandCall): string[] {
    const count = countIn(call.words, SHOWN, MOST_SHOWN);
    const { speaker } = call;
    const own = call.words.some((word) => word.startsWith("#"))
      ? readableChannel(this.#context, call)
      : null;
    const seen = this.#remembered.filter(({ channel }) =>
      own === null ? this.#context.mayRead(speaker, channel) : channel === own
    ).slice(-count);
    if (seen.length === 0) return ["Nothing happened yet"];
    return seen.map(({ time, channel, text }) => {
      return `${new Date(time).toISOString()} ${channel}: ${text}`;
    });
  }
}

function wordsFor({ kind, nick, by, to }: ChannelActivity): string {
  switch (kind) {
    case "join":
      return `${nick} came`;
    case "part":
      return `${nick} left`;
    case "quit":
      return `${nick} left IRC`;
    case "kick":
      return `${by} removed ${nick}`;
    case "nick":
      return `${nick} is now ${to}`;
  }
}

/** The bot that answers questions about the server and its channels. */
export function systembot(facts: SystemFacts) {
  return defineBot<"systembot", Systembot>({
    name: "systembot",
    purpose: PURPOSES.systembot,
    commands: [
      {
        name: "STATUS",
        usage: "",
        purpose: "how long the server has run, and how many agents and channels it has",
        may: "anyone",
        run: (bot) => bot.status(),
      },
      {
        name: "WHO",
        usage: "[#channel]",
        purpose: "who is in a channel",
        may: "anyone",
        run: (bot, call) => bot.who(call),
      },
      {
        name: "RECENT",
        usage: "[#channel] [n]",
        purpose: "who joined and left lately",
        may: "anyone",
        lines: MOST_SHOWN,
        isPrivate: true,
        run: (bot, call) => bot.recent(call),
      },
    ],
    start: (context) => new Systembot(context, facts),
  });
}
