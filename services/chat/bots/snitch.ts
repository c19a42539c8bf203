import { z } from "zod";
import { type ChannelActivity, parseEnvelope } from "../bridge/mod.ts";
import { Conflict, Invalid, NotFound } from "../../kernel/errors.ts";
import { foldCase, isNick } from "../../engines/irc/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { PURPOSES } from "../policies/mod.ts";
import { type BotCommandCall, type BotContext, type BotMessage, defineBot } from "./bot.ts";

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

/** Most nicks that somebody asked to watch. */
const MAX_WATCHED = 200;

/** Where a nick is. */
export type Presence = "here" | "away" | "gone";

/** A change of a watched nick that somebody wants to know. */
interface PresenceChange {
  readonly nick: string;
  readonly kind: "gone" | "away" | "back";
}

const watchedSchema = z.object({
  /** The nicks that WATCH added. */
  nicks: z.array(z.string()).max(MAX_WATCHED),
  /** Where each nick was last seen, by its folded form; unknown nicks were never seen. */
  last: z.record(z.string(), z.enum(["here", "away", "gone"])),
});
type WatchedState = z.infer<typeof watchedSchema>;

/**
 * The watched nicks: those of the settings and those that somebody added. One that was never seen
 * causes no alarm.
 */
export class Watched {
  /** By folded nick. */
  readonly #added = new Map<string, string>();
  readonly #last = new Map<string, Presence>();
  #revision = 0;

  constructor(state: WatchedState | null) {
    for (const nick of state?.nicks ?? []) this.#added.set(foldCase(nick), nick);
    for (const [nick, presence] of Object.entries(state?.last ?? {})) {
      this.#last.set(nick, presence);
    }
  }

  /** For the next start. */
  get state(): WatchedState {
    return { nicks: [...this.#added.values()], last: Object.fromEntries(this.#last) };
  }

  /** Grows with each change of the state. */
  get revision(): number {
    return this.#revision;
  }

  /** Adds a nick. Returns false if it is watched already; null if there are too many. */
  add(nick: string): boolean | null {
    if (this.#added.has(foldCase(nick))) return false;
    if (this.#added.size >= MAX_WATCHED) return null;
    this.#added.set(foldCase(nick), nick);
    return true;
  }

  /** Removes an added nick. Returns whether it was one. */
  remove(nick: string): boolean {
    this.#last.delete(foldCase(nick));
    return this.#added.delete(foldCase(nick));
  }

  /** All watched nicks, with those of the settings, sorted. */
  nicks(configured: readonly string[]): string[] {
    const all = new Map([
      ...configured.map((nick) => [foldCase(nick), nick] as const),
      ...this.#added,
    ]);
    return [...all.entries()].sort(([one], [other]) => one < other ? -1 : 1)
      .slice(0, MAX_WATCHED).map(([, nick]) => nick);
  }

  /** Where a nick was last seen; null if it was never seen. */
  lastOf(nick: string): Presence | null {
    return this.#last.get(foldCase(nick)) ?? null;
  }

  /**
   * Compares where the nicks are with where they were.
   *
   * @param isSettling whether the program has just started: a missing nick may be on its way back
   */
  compare(
    nicks: readonly string[],
    presenceOf: (nick: string) => Presence,
    isSettling: boolean,
  ): PresenceChange[] {
    const changes: PresenceChange[] = [];
    for (const nick of nicks) {
      const before = this.#last.get(foldCase(nick));
      const now = presenceOf(nick);
      if (now === before || (now === "gone" && (before === undefined || isSettling))) continue;
      this.#last.set(foldCase(nick), now);
      this.#revision++;
      if (now === "gone" || now === "away") changes.push({ nick, kind: now });
      else if (before !== undefined) changes.push({ nick, kind: "back" });
    }
    this.#forgetAllBut(nicks);
    return changes;
  }

  #forgetAllBut(nicks: readonly string[]): void {
    const kept = new Set(nicks.map(foldCase));
    for (const nick of this.#last.keys()) {
      if (!kept.has(nick)) this.#last.delete(nick);
    }
  }
}

/** Most things that are counted at one time. */
const MAX_COUNTED = 10_000;

/** Counts how often each thing happened within a span of time. */
export class Windows {
  /** The times of each thing, the oldest first, in Unix milliseconds. */
  readonly #times = new BoundedMap<string, number[]>(MAX_COUNTED);

  /**
   * Counts one occurrence.
   *
   * @param threshold how many within the span are too many; 0: any number is fine
   * @param span in milliseconds
   * @param now Unix milliseconds
   * @returns how often it happened within the span if that reaches the threshold, or null
   */
  add(thing: string, threshold: number, span: number, now: number): number | null {
    if (threshold <= 0) return null;
    const times = this.#times.use(thing, () => []);
    times.push(now);
    while (times.length > threshold || (times[0] ?? now) < now - span) times.shift();
    return times.length >= threshold ? times.length : null;
  }
}

/** The snitch: see snitch.ts. */
