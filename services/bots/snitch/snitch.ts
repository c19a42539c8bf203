import { PURPOSES } from "../../policies/mod.ts";
import { Conflict, Invalid, NotFound } from "../../errors.ts";
import { type ChannelActivity, parseEnvelope } from "../../bridge/mod.ts";
import { foldCase, isNick } from "../../irc/mod.ts";
import type { BotCommandCall, BotMessage } from "../bot.ts";
import { type BotContext, defineBot } from "../bot.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { type Presence, type PresenceChange, Watched, watchedSchema } from "./watched.ts";
import { Windows } from "./windows.ts";

/** How often watched nicks are looked for, in milliseconds. */
const LOOK_MS = 5000;

/** After its start, this long, a missing nick may be on the way back, in milliseconds. */
const SETTLING_MS = 120_000;

/** The same alarm comes at most once in this time, in milliseconds. */
const COOLDOWN_MS = 60_000;

/** How long nobody hears of what was acknowledged, in milliseconds. */
const ACKNOWLEDGED_MS = 3_600_000;

/** Malformed envelopes are counted over this span, in milliseconds. */
const MALFORMED_MS = 60_000;

/** Alarms and acknowledgements that are remembered. */
const MAX_REMEMBERED = 1000;

/** Alarms that STATUS shows. */
const SHOWN = 5;

const KEY = "watched";

/** What the snitch needs beside what every bot gets. */
export interface SnitchParts {
  /** Where a nick is now. */
  presenceOf(nick: string): Presence;
}

interface Alarm {
  readonly time: number;
  readonly channel: string | null;
  readonly text: string;
}

/** Tells of floods, of users that come and go again and again, and of watched agents that are gone. */
class Snitch {
  readonly #context: BotContext<"snitch">;
  readonly #parts: SnitchParts;
  readonly #watched: Watched;
  readonly #startedAt: number;
  readonly #messages = new Windows();
  readonly #cycles = new Windows();
  readonly #malformed = new Windows();
  /** When each kind of alarm last came. */
  readonly #raised = new BoundedMap<string, number>(MAX_REMEMBERED);
  /** Until when nobody hears of a nick, by nick and channel. */
  readonly #acknowledged = new BoundedMap<string, number>(MAX_REMEMBERED);
  readonly #last: Alarm[] = [];

  private constructor(context: BotContext<"snitch">, parts: SnitchParts, watched: Watched) {
    this.#context = context;
    this.#parts = parts;
    this.#watched = watched;
    this.#startedAt = context.now();
  }

  static async start(context: BotContext<"snitch">, parts: SnitchParts): Promise<Snitch> {
    const watched = new Watched(await context.state.read(KEY, () => watchedSchema));
    const snitch = new Snitch(context, parts, watched);
    await snitch.settingsChanged();
    await snitch.#look();
    return snitch;
  }

  async settingsChanged(): Promise<void> {
    const { alert_channel: channel } = this.#context.settings();
    if (channel !== "") await this.#context.enter(channel);
  }

  message(message: BotMessage): void {
    const { channel, nick, text, isFromBot } = message;
    if (isFromBot) return;
    const settings = this.#context.settings();
    const { flood_messages: most, flood_window_sec: span, malformed_threshold = 0 } = settings;
    const now = this.#context.now();
    const thing = `${foldCase(nick)} ${foldCase(channel)}`;
    const flood = this.#messages.add(thing, most, span * 1000, now);
    if (flood !== null) {
      this.#raise("flood", nick, channel, `said ${flood} messages in ${span} seconds`);
    }
    if (!isMalformed(text)) return;
    const malformed = this.#malformed.add(thing, malformed_threshold, MALFORMED_MS, now);
    if (malformed !== null) {
      this.#raise("malformed", nick, channel, `sent ${malformed} malformed envelopes in a minute`);
    }
  }

  activity({ kind, nick, channel }: ChannelActivity): void {
    if (kind !== "join" && kind !== "part" && kind !== "quit") return;
    if (this.#context.isBot(nick)) return;
    const { join_part_threshold: most, join_part_window_sec: span } = this.#context.settings();
    const thing = `${foldCase(nick)} ${foldCase(channel)}`;
    const count = this.#cycles.add(thing, most, span * 1000, this.#context.now());
    if (count === null) return;
    this.#raise("cycling", nick, channel, `came and went ${count} times in ${span} seconds`);
  }

  async watch({ words: [nick = ""] }: BotCommandCall): Promise<string> {
    if (!isNick(nick)) throw new Invalid(`"${nick}" is no nick`);
    const added = this.#watched.add(nick);
    if (added === null) throw new Conflict("I watch as many nicks as I can");
    if (!added) return `I watch ${nick} already`;
    this.#noticeChanges();
    await this.#keep();
    const last = this.#watched.lastOf(nick);
    return `I watch ${nick}, ${last === null ? "whom I have not seen yet" : `who is ${last}`}`;
  }

  async unwatch({ words: [nick = ""] }: BotCommandCall): Promise<string> {
    if (!this.#watched.remove(nick)) {
      const configured = this.#context.settings().monitor_nicks.some((one) => same(one, nick));
      throw configured
        ? new Conflict(`${nick} is in "monitor_nicks" of my policy: remove it there`)
        : new NotFound(`I do not watch ${nick}`);
    }
    await this.#keep();
    return `I no longer watch ${nick}`;
  }

  acknowledge({ words: [nick = "", place = ""] }: BotCommandCall): string {
    const channel = place.startsWith("#") ? place : null;
    const key = acknowledgement(nick, channel);
    this.#acknowledged.set(key, this.#context.now() + ACKNOWLEDGED_MS);
    return `No alarm about ${nick}${channel === null ? "" : ` in ${channel}`} for an hour`;
  }

  status({ speaker }: BotCommandCall): string[] {
    const settings = this.#context.settings();
    const nicks = this.#watched.nicks(settings.monitor_nicks);
    const seen = nicks.map((nick) => `${nick} (${this.#watched.lastOf(nick) ?? "never seen"})`);
    const lines = this.#last.filter(({ channel }) =>
      channel === null || this.#context.mayRead(speaker, channel)
    ).slice(-SHOWN).map(({ time, text }) => `${new Date(time).toISOString()} ${text}`);
    return [
      `Watching: ${seen.join(", ") || "nobody"}`,
      `A flood is ${settings.flood_messages} messages in ${settings.flood_window_sec} seconds; ` +
      `cycling is ${settings.join_part_threshold} joins and parts in ` +
      `${settings.join_part_window_sec} seconds`,
      ...lines.length === 0 ? ["No alarm since the start"] : lines,
    ];
  }

  /** Looks where the watched nicks are, and again soon. */
  async #look(): Promise<void> {
    this.#context.after(LOOK_MS, () => this.#look());
    const { revision } = this.#watched;
    this.#noticeChanges();
    if (this.#watched.revision !== revision) await this.#keep();
  }

  /** Raises alarms about watched nicks that are elsewhere now. */
  #noticeChanges(): void {
    const nicks = this.#watched.nicks(this.#context.settings().monitor_nicks);
    const isSettling = this.#context.now() - this.#startedAt < SETTLING_MS;
    const presenceOf = (nick: string) => this.#parts.presenceOf(nick);
    for (const { nick, kind } of this.#watched.compare(nicks, presenceOf, isSettling)) {
      this.#raise(kind, nick, null, PRESENCE[kind]);
    }
  }

  async #keep(): Promise<void> {
    await this.#context.state.write(KEY, this.#watched.state);
  }

  #raise(kind: string, nick: string, channel: string | null, what: string): void {
    const now = this.#context.now();
    const key = `${kind} ${acknowledgement(nick, channel)}`;
    if (now - (this.#raised.get(key) ?? -Infinity) < COOLDOWN_MS) return;
    if (this.#isAcknowledged(nick, channel, now)) return;
    this.#raised.set(key, now);
    const text = `${nick}${channel === null ? "" : ` in ${channel}`} ${what}`;
    this.#last.push({ time: now, channel, text });
    if (this.#last.length > SHOWN * 10) this.#last.shift();
    this.#context.record("bot.alarm", { bot: "snitch", kind, nick, channel });
    const { alert_channel: place, alert_nicks: nicks } = this.#context.settings();
    if (place !== "") this.#context.say(place, `[${kind}] ${text}`);
    for (const one of nicks) this.#context.tell(one, `[${kind}] ${text}`);
  }

  #isAcknowledged(nick: string, channel: string | null, now: number): boolean {
    return [null, channel].some((place) =>
      (this.#acknowledged.get(acknowledgement(nick, place)) ?? 0) > now
    );
  }
}

const PRESENCE: Readonly<Record<PresenceChange["kind"], string>> = {
  gone: "is gone",
  away: "is away",
  back: "is back",
};

/** A text that looks like an envelope and is none. */
export function isMalformed(text: string): boolean {
  return text.trimStart().startsWith("{") && parseEnvelope(text) === null;
}

function acknowledgement(nick: string, channel: string | null): string {
  return `${foldCase(nick)} ${channel === null ? "" : foldCase(channel)}`;
}

function same(one: string, other: string): boolean {
  return foldCase(one) === foldCase(other);
}

/** The bot that raises alarms. */
export function snitch(parts: SnitchParts) {
  return defineBot<"snitch", Snitch>({
    name: "snitch",
    purpose: PURPOSES.snitch,
    commands: [
      {
        name: "WATCH",
        usage: "nick",
        purpose: "raises an alarm when this nick goes away or leaves IRC",
        may: "admin",
        words: 1,
        run: (bot, call) => bot.watch(call),
      },
      {
        name: "UNWATCH",
        usage: "nick",
        purpose: "watches it no longer",
        may: "admin",
        words: 1,
        run: (bot, call) => bot.unwatch(call),
      },
      {
        name: "ACK",
        usage: "nick [#channel]",
        purpose: "silences alarms about this nick for an hour",
        may: "admin",
        words: 1,
        run: (bot, call) => bot.acknowledge(call),
      },
      {
        name: "STATUS",
        usage: "",
        purpose: "whom I watch, what counts as a flood, and the last alarms",
        may: "account",
        isPrivate: true,
        run: (bot, call) => bot.status(call),
      },
    ],
    start: (context) => Snitch.start(context, parts),
  });
}
