import { z } from "zod";
import { amount } from "../../../kernel/words.ts";
import { Invalid, NotFound, ServiceError } from "../../../kernel/errors.ts";
import { foldCase } from "../../../engines/irc/mod.ts";
import { BoundedMap } from "../../../kernel/bounded_map.ts";
import { PURPOSES } from "../../policies/mod.ts";
import {
  type BotCommandCall,
  type BotContext,
  type BotMessage,
  defineBot,
  type Speaker,
} from "../bot.ts";
import {
  ANSWER_SCHEMA,
  instructionsFor,
  isWorse,
  quote,
  readAnswer,
  Rules,
  SEVERITIES,
} from "./judging.ts";

/** How often a model reads what is new, in milliseconds. */
const SCAN_MS = 30_000;

/** Calls of a model at one time. */
const MAX_CALLS = 4;

/** Tokens of a model's answer. */
const MAX_TOKENS = 1000;

/** Channels whose last messages are kept, and the most messages of each. */
const MAX_CHANNELS = 200;
const MAX_WINDOW = 200;

const SHOWN = 5;
const MOST_SHOWN = 50;

const KEY = "incidents";

/** What the sentinel needs beside what every bot gets. */
export interface SentinelParts {
  /** Where the incidents go, for the steward. */
  readonly reports: Reports;
  /** The nicks of the IRC operators who are on IRC. */
  operators(): readonly string[];
}

interface Window {
  /** The name of the channel. */
  readonly channel: string;
  messages: BotMessage[];
  /** How many at the end the model has not read. */
  fresh: number;
}

type Settings = ReturnType<BotContext<"sentinel">["settings"]>;

/** Judges what is said in channels, and reports what breaks the policy. It never acts. */
class Sentinel {
  readonly #context: BotContext<"sentinel">;
  readonly #parts: SentinelParts;
  readonly #incidents: Incidents;
  readonly #windows = new BoundedMap<string, Window>(MAX_CHANNELS);
  #rules = new Rules("");
  #watched: ReadonlySet<string> | "all" = new Set();
  #calls = 0;
  readonly #counts = { judged: 0, answers: 0, failures: 0 };

  private constructor(
    context: BotContext<"sentinel">,
    parts: SentinelParts,
    incidents: Incidents,
  ) {
    this.#context = context;
    this.#parts = parts;
    this.#incidents = incidents;
  }

  static async start(
    context: BotContext<"sentinel">,
    parts: SentinelParts,
  ): Promise<Sentinel> {
    const incidents = new Incidents(await context.state.read(KEY, () => incidentsSchema));
    const sentinel = new Sentinel(context, parts, incidents);
    await sentinel.settingsChanged();
    sentinel.#scheduleScan();
    return sentinel;
  }

  async settingsChanged(): Promise<void> {
    const { channel, mod_channel: place, policy = "" } = this.#context.settings();
    this.#rules = new Rules(policy);
    const names = channel.split(/[\s,]+/).filter((name) => name !== "");
    this.#watched = names.includes("*") ? "all" : new Set(names.map(foldCase));
    const wanted = [...this.#watched === "all" ? [] : names, ...place === "" ? [] : [place]];
    for (const name of wanted) await this.#context.enter(name);
  }

  async message(message: BotMessage): Promise<void> {
    if (message.isFromBot || !this.#isWatched(message.channel)) return;
    this.#counts.judged++;
    this.#remember(message);
    const finding = this.#rules.judge(message.text);
    if (finding !== null) await this.#report(message, { ...finding, source: "rule" });
  }

  async dismiss({ words: [what = ""], subject, speaker }: BotCommandCall): Promise<string> {
    const channel = this.#scopeOf(subject);
    const number = /^#?(\d{1,9})$/.exec(what)?.[1];
    const count = this.#incidents.dismiss((one) =>
      (channel === null || foldCase(one.channel) === foldCase(channel)) &&
      (number === undefined ? foldCase(one.nick) === foldCase(what) : one.number === Number(number))
    );
    if (count === 0) throw new NotFound(`There is no open incident ${what}`);
    await this.#context.state.write(KEY, this.#incidents.state);
    this.#context.record("bot.incidents_dismissed", { bot: "sentinel", what, count }, speaker);
    return `Dismissed ${amount(count, "incident")}`;
  }

  /** The open incidents. */
  report({ subject }: BotCommandCall): string[] {
    const open = this.#incidents.list(this.#scopeOf(subject), MOST_SHOWN, true);
    return open.length === 0 ? ["No open incidents"] : open.map(lineOf);
  }

  recent({ subject, words }: BotCommandCall): string[] {
    const given = words.find((word) => /^\d{1,3}$/.test(word));
    const count = Math.min(Number(given ?? SHOWN), MOST_SHOWN);
    if (count === 0) throw new Invalid("Ask for at least one incident");
    const last = this.#incidents.list(this.#scopeOf(subject), count);
    return last.length === 0 ? ["No incidents"] : last.map(lineOf);
  }

  status(): string[] {
    const { backend = "", min_severity: least, channel } = this.#context.settings();
    const { judged, answers, failures } = this.#counts;
    const open = this.#incidents.list(null, Infinity, true).length;
    const judge = backend === "" ? "without a model" : `with the backend "${backend}"`;
    return [
      `Judging ${
        channel || "no channel"
      } by ${this.#rules.count} rules, ${judge}; reporting ${least} and worse`,
      `Since the start: ${amount(judged, "message")}, ${amount(answers, "answer")} of the model, ` +
      `${amount(failures, "failure")}; ${amount(open, "open incident")}`,
    ];
  }

  #isWatched(channel: string): boolean {
    if (foldCase(channel) === foldCase(this.#context.settings().mod_channel)) return false;
    return this.#watched === "all" || this.#watched.has(foldCase(channel));
  }

  /** The incidents of a channel; in the channel of the moderators, and without one, all. */
  #scopeOf(subject: string | null): string | null {
    const { mod_channel: place } = this.#context.settings();
    return subject === null || foldCase(subject) === foldCase(place) ? null : subject;
  }

  #remember(message: BotMessage): void {
    const { channel } = message;
    const window = this.#windows.use(foldCase(channel), () => {
      return { channel, messages: [], fresh: 0 };
    });
    window.messages.push(message);
    window.fresh++;
    trim(window, this.#context.settings(), this.#context.now());
  }

  #scheduleScan(): void {
    this.#context.after(SCAN_MS, () => {
      this.#scan();
      this.#scheduleScan();
    });
  }

  /** Has the model read what is new. Its answers come later, and nothing waits for them. */
  #scan(): void {
    const settings = this.#context.settings();
    if ((settings.backend ?? "") === "") return;
    for (const [, window] of this.#windows.entries()) {
      if (this.#calls >= MAX_CALLS) return;
      trim(window, settings, this.#context.now());
      if (window.fresh > 0) this.#ask(window, settings);
    }
  }

  #ask(window: Window, { backend, model, policy = "" }: Settings): void {
    const { messages, fresh } = window;
    const asked = [...messages];
    window.fresh = 0;
    this.#calls++;
    this.#context.ask({
      backend,
      model,
      instructions: instructionsFor(policy),
      quoted: quote(asked),
      maxTokens: MAX_TOKENS,
      schema: ANSWER_SCHEMA,
    }).then(
      (answer) => this.#context.after(0, () => this.#take(asked, fresh, answer ?? "")),
      (error: unknown) => this.#context.after(0, () => this.#failed(error)),
    ).finally(() => this.#calls--);
  }

  async #take(asked: readonly BotMessage[], fresh: number, answer: string): Promise<void> {
    const findings = readAnswer(answer, asked.length);
    if (findings === null) {
      return this.#failed(new TypeError("The answer is not what was asked for"));
    }
    this.#counts.answers++;
    for (const { index, severity, reason } of findings) {
      const message = asked[index];
      // The older ones were judged before.
      if (message === undefined || index < asked.length - fresh) continue;
      await this.#report(message, { severity, reason, source: "model" });
    }
  }

  #failed(error: unknown): void {
    this.#counts.failures++;
    const message = error instanceof ServiceError ? error.message : String(error);
    this.#context.log.warn("The sentinel's model did not judge", { error: message });
  }

  async #report(
    { id, channel, nick, text, speaker }: BotMessage,
    finding: Pick<Incident, "severity" | "reason" | "source">,
  ): Promise<void> {
    const settings = this.#context.settings();
    if (isWorse(settings.min_severity, finding.severity)) return;
    const { severity, reason, source } = finding;
    const about = { channel, nick, severity, reason, source, account: speaker.account };
    const cooldown = settings.cooldown_sec * 1000;
    const incident = this.#incidents.add(
      { ...about, time: this.#context.now(), message: id },
      cooldown,
    );
    if (incident === null) return;
    await this.#context.state.write(KEY, this.#incidents.state);
    const { number } = incident;
    this.#context.record("bot.incident", {
      bot: "sentinel",
      number,
      channel,
      nick,
      account: speaker.account,
      severity,
      reason,
      source,
    });
    this.#tell(incident, settings);
    this.#parts.reports.send({ incident, speaker, text });
  }

  #tell(incident: Incident, settings: Settings): void {
    const line = lineOf(incident);
    if (settings.mod_channel !== "") this.#context.say(settings.mod_channel, line);
    const operators = settings.dm_operators ? this.#parts.operators() : [];
    for (const nick of new Set([...settings.alert_nicks, ...operators])) {
      this.#context.tell(nick, line);
    }
  }
}

/** Drops what is too old or too much for a window. */
function trim(window: Window, { window_size: size, window_age_sec: age }: Settings, now: number) {
  const most = Math.min(Math.max(size, 1), MAX_WINDOW);
  const oldest = now - age * 1000;
  window.messages = window.messages.slice(-most)
    .filter(({ timestamp }) => Date.parse(timestamp) >= oldest);
  window.fresh = Math.min(window.fresh, window.messages.length);
}

function lineOf({ number, severity, nick, channel, reason, source, dismissed }: Incident): string {
  const state = dismissed ? ", dismissed" : "";
  return `[incident ${number}, ${severity}${state}] ${nick} in ${channel}: ${reason} (${source})`;
}

/** The bot that reports what breaks the policy. */
export function sentinel(parts: SentinelParts) {
  return defineBot<"sentinel", Sentinel>({
    name: "sentinel",
    purpose: PURPOSES.sentinel,
    commands: [
      {
        name: "REPORT",
        usage: "[#channel]",
        purpose: "the open incidents",
        may: "channelOperator",
        isPrivate: true,
        lines: MOST_SHOWN,
        run: (bot, call) => bot.report(call),
      },
      {
        name: "RECENT",
        usage: "[#channel] [n]",
        purpose: "the last incidents",
        may: "channelOperator",
        isPrivate: true,
        lines: MOST_SHOWN,
        run: (bot, call) => bot.recent(call),
      },
      {
        name: "DISMISS",
        usage: "number|nick [#channel]",
        purpose: "closes incidents",
        may: "channelOperator",
        words: 1,
        run: (bot, call) => bot.dismiss(call),
      },
      {
        name: "STATUS",
        usage: "",
        purpose: "what is judged, and how",
        may: "account",
        run: (bot) => bot.status(),
      },
    ],
    start: (context) => Sentinel.start(context, parts),
  });
}

/** Incidents that are kept. */
const MAX_INCIDENTS = 200;

const incidentSchema = z.object({
  number: z.int().min(1),
  /** Unix milliseconds. */
  time: z.number(),
  channel: z.string(),
  nick: z.string(),
  /** The proven account; null for a guest. */
  account: z.string().nullable(),
  severity: z.enum(SEVERITIES),
  reason: z.string(),
  source: z.enum(["rule", "model"]),
  /** The id of the message. */
  message: z.string(),
  dismissed: z.boolean(),
});

/** Something that somebody said against the policy. */
export type Incident = z.infer<typeof incidentSchema>;

const incidentsSchema = z.object({
  next: z.int().min(1),
  incidents: z.array(incidentSchema),
});

/** The incidents, and which of them are new. */
export class Incidents {
  #next: number;
  #incidents: Incident[];

  constructor(state: z.infer<typeof incidentsSchema> | null) {
    this.#next = state?.next ?? 1;
    this.#incidents = state?.incidents ?? [];
  }

  /** For the next start. */
  get state(): z.infer<typeof incidentsSchema> {
    return { next: this.#next, incidents: this.#incidents };
  }

  /**
   * Adds an incident, unless it is about a known message, or the same speaker was reported in the
   * same channel during the cooldown for something as bad.
   *
   * @param cooldown in milliseconds
   */
  add(incident: Omit<Incident, "number" | "dismissed">, cooldown: number): Incident | null {
    const isKnown = this.#incidents.some((known) =>
      known.message === incident.message ||
      (isSameSpeaker(known, incident) && incident.time - known.time < cooldown &&
        !isWorse(incident.severity, known.severity))
    );
    if (isKnown) return null;
    const added = { ...incident, number: this.#next++, dismissed: false };
    this.#incidents = [...this.#incidents, added].slice(-MAX_INCIDENTS);
    return added;
  }

  /** Dismisses incidents; returns how many. */
  dismiss(isMeant: (incident: Incident) => boolean): number {
    const meant = this.#incidents.filter((one) => !one.dismissed && isMeant(one));
    this.#incidents = this.#incidents.map((one) =>
      meant.includes(one) ? { ...one, dismissed: true } : one
    );
    return meant.length;
  }

  /** The last incidents of a channel, or of all with null; the newest at the end. */
  list(channel: string | null, most: number, isOpen = false): Incident[] {
    return this.#incidents.filter((one) =>
      (channel === null || foldCase(one.channel) === foldCase(channel)) &&
      !(isOpen && one.dismissed)
    ).slice(-most);
  }
}

function isSameSpeaker(
  one: Pick<Incident, "channel" | "nick" | "account">,
  other: Pick<Incident, "channel" | "nick" | "account">,
): boolean {
  if (foldCase(one.channel) !== foldCase(other.channel)) return false;
  if (one.account === null || other.account === null) {
    return one.account === other.account && foldCase(one.nick) === foldCase(other.nick);
  }
  return foldCase(one.account) === foldCase(other.account);
}

/** An incident, with what only the program may see. */
export interface Report {
  readonly incident: Incident;
  /** Who said it, as proven. */
  readonly speaker: Speaker;
  /** What was said. */
  readonly text: string;
}

/**
 * The sentinel's reports inside this program. Nothing that anybody says in a channel becomes a
 * report.
 */
export class Reports {
  #listener: ((report: Report) => void) | null = null;

  /** Passes a report on. */
  send(report: Report): void {
    this.#listener?.(report);
  }

  /**
   * Calls a listener with each report from now on.
   *
   * @returns a function that ends it
   */
  listen(listener: (report: Report) => void): () => void {
    this.#listener = listener;
    return () => {
      if (this.#listener === listener) this.#listener = null;
    };
  }
}
