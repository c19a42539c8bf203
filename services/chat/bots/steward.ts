import { z } from "zod";
import { amount } from "../../kernel/words.ts";
import { Forbidden, ServiceError } from "../../kernel/errors.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { PURPOSES } from "../policies/mod.ts";
import { type BotCommandCall, type BotContext, defineBot, type Speaker } from "./bot.ts";
import {
  isSame,
  type ModeratedServer,
  type Moderating,
  moderationCommands,
  Moderator,
} from "./moderation.ts";
import { measuresOf } from "./readable.ts";
import {
  ANSWER_SCHEMA,
  instructionsFor,
  isWorse,
  quote,
  readAnswer,
  type Report,
  type Reports,
  SEVERITIES,
  type Severity,
} from "./sentinel/mod.ts";

/** Speakers whose last act is remembered. */
const MAX_ACTS = 500;

/** Tokens of a model's answer. */
const MAX_TOKENS = 300;

/** Mutes that STATUS names. */
const SHOWN_MUTES = 10;

const KEY = "acts";

const actsSchema = z.array(z.object({
  /** The account or, of a guest, the nick; folded. */
  who: z.string(),
  severity: z.enum(SEVERITIES),
  /** Unix milliseconds. */
  time: z.number(),
}));

/** What the steward needs beside what every bot gets. */
export interface StewardParts {
  readonly server: ModeratedServer;
  readonly reports: Reports;
}

type Settings = ReturnType<BotContext<"steward">["settings"]>;

/** What is done about a report. */
type Measure = "nothing" | "warn" | "mute" | "kick";

/** The measure for a severity. */
export function measureFor(
  severity: Severity,
  { silence_low_warnings: silent }: Pick<Settings, "silence_low_warnings">,
): Measure {
  if (severity === "low") return silent ? "nothing" : "warn";
  return severity === "medium" ? "mute" : "kick";
}

/** Acts on the sentinel's reports, as far as the policy lets it, and on the commands of operators. */
class Steward implements Moderating {
  readonly moderator: Moderator;
  readonly #context: BotContext<"steward">;
  readonly #acts = new BoundedMap<string, { readonly severity: Severity; readonly time: number }>(
    MAX_ACTS,
  );
  readonly #stopListening: () => void;
  readonly #counts = { reports: 0, nothing: 0, warn: 0, mute: 0, kick: 0 };

  private constructor(
    context: BotContext<"steward">,
    parts: StewardParts,
    acts: z.infer<typeof actsSchema>,
  ) {
    this.#context = context;
    this.moderator = new Moderator(context, parts.server);
    for (const { who, severity, time } of acts) this.#acts.set(who, { severity, time });
    this.#stopListening = parts.reports.listen((report) => {
      context.after(0, () => this.#take(report));
    });
  }

  static async start(context: BotContext<"steward">, parts: StewardParts): Promise<Steward> {
    const acts = await context.state.read(KEY, () => actsSchema) ?? [];
    const steward = new Steward(context, parts, acts);
    await steward.settingsChanged();
    return steward;
  }

  async settingsChanged(): Promise<void> {
    const { mod_channel: channel } = this.#context.settings();
    if (channel !== "") await this.#context.enter(channel);
  }

  stop(): void {
    this.#stopListening();
  }

  usualMute(): number {
    return Math.max(this.#context.settings().mute_duration_sec, 1) * 1000;
  }

  requireRight({ speaker, subject }: BotCommandCall): void {
    const { nick, account, kind } = speaker;
    if (kind === "admin" || this.#isOperator(account)) return;
    if (subject !== null && this.#context.isChannelOperator(nick, subject)) return;
    throw new Forbidden(
      "Only admins, operators of the channel, and the accounts in my policy may do that",
    );
  }

  status(speaker: Speaker): string[] {
    const { auto_act: acts, mute_duration_sec: seconds, channel = "" } = this.#context.settings();
    const place = channel === "" ? "all channels" : channel;
    const mutes = this.moderator.mutesFor(speaker);
    const more = mutes.length - SHOWN_MUTES;
    return [
      acts
        ? `Acting on reports about ${place}; mutes last ${seconds} seconds`
        : `Acting on commands only: "auto_act" is off`,
      `Since the start: ${amount(this.#counts.reports, "report")}; by myself ${
        measuresOf(this.#counts)
      }`,
      ...mutes.slice(0, SHOWN_MUTES),
      ...more > 0 ? [`… and ${amount(more, "more mute")}`] : [],
    ];
  }

  #take(report: Report): Promise<void> | void {
    this.#counts.reports++;
    const { incident: { number, nick, channel, severity } } = report;
    const settings = this.#context.settings();
    if (!this.#isItsChannel(channel, settings)) return;
    const measure = measureFor(severity, settings);
    if (!settings.auto_act) {
      if (measure === "nothing") return;
      const command = `!steward ${measure.toUpperCase()} ${nick} ${channel}`;
      return this.#tell(`Incident ${number}: I do not act by myself. "${command}" would.`);
    }
    if (this.#isCooling(report, settings)) return;
    if ((settings.backend ?? "") === "") return this.#finish(report, severity);
    // Commands do not wait for the model.
    this.#confirm(report, settings).then(
      (confirmed) => this.#context.after(0, () => this.#finish(report, confirmed)),
      (error: unknown) =>
        this.#context.after(0, () => {
          throw error;
        }),
    );
  }

  async #finish(report: Report, severity: Severity | null): Promise<void> {
    const { number } = report.incident;
    if (severity === null) {
      return this.#tell(`Incident ${number}: the model finds nothing wrong, so I leave it to you`);
    }
    try {
      await this.#act(report, measureFor(severity, this.#context.settings()), severity);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.#tell(`Incident ${number}: ${error.message}`);
    }
  }

  /** @throws ServiceError if it is not possible */
  async #act({ incident, speaker }: Report, measure: Measure, severity: Severity): Promise<void> {
    this.#counts[measure]++;
    if (measure === "nothing") return;
    const { number, nick, channel } = incident;
    const reason = `${incident.reason} (incident ${number})`;
    const target = this.moderator.findSpeaker(speaker, channel);
    await this.#remember(speaker, severity);
    const order = { channel, reason };
    if (measure === "warn") this.moderator.warn(target, order);
    else await this.moderator.mute(target, order, this.usualMute());
    if (measure === "kick" && this.#context.isIn(target.nick, channel)) {
      this.moderator.kick(target, order);
    }
    const { dm_on_action: isTold, operator_nicks: operators } = this.#context.settings();
    const line = `Incident ${number}: ${DONE[measure]} ${nick} in ${channel}: ${incident.reason}`;
    this.#tell(line);
    if (isTold) { for (const operator of operators) this.#context.tell(operator, line); }
  }

  /** The lesser of the report's severity and the model's; null if the model finds nothing. */
  async #confirm(
    { incident: { severity, nick }, text }: Report,
    { backend, model }: Settings,
  ): Promise<Severity | null> {
    try {
      const answer = await this.#context.ask({
        backend,
        model,
        instructions: instructionsFor(""),
        quoted: quote([{ nick, text }]),
        maxTokens: MAX_TOKENS,
        schema: ANSWER_SCHEMA,
      });
      const findings = readAnswer(answer ?? "", 1);
      if (findings === null) return severity;
      const worst = findings.map((finding) => finding.severity)
        .reduce<Severity | null>((one, other) => {
          return one === null || isWorse(other, one) ? other : one;
        }, null);
      return worst !== null && isWorse(worst, severity) ? severity : worst;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.#context.log.warn("The steward's model did not answer", { error: error.message });
      return severity;
    }
  }

  #isOperator(account: string | null): boolean {
    if (account === null) return false;
    return this.#context.settings().operator_nicks.some((one) => isSame(one, account));
  }

  #isItsChannel(channel: string, { channel: own = "" }: Settings): boolean {
    const names = own.split(/[\s,]+/).filter((name) => name !== "");
    return names.length === 0 || names.some((name) => isSame(name, channel));
  }

  #isCooling({ speaker, incident: { severity } }: Report, { cooldown_sec: cooldown }: Settings) {
    const last = this.#acts.get(keyOf(speaker));
    return last !== undefined && this.#context.now() - last.time < cooldown * 1000 &&
      !isWorse(severity, last.severity);
  }

  async #remember(speaker: Speaker, severity: Severity): Promise<void> {
    this.#acts.set(keyOf(speaker), { severity, time: this.#context.now() });
    const acts = Array.from(this.#acts.entries(), ([who, act]) => ({ who, ...act }));
    await this.#context.state.write(KEY, acts);
  }

  #tell(line: string): void {
    const { mod_channel: channel } = this.#context.settings();
    if (channel !== "") this.#context.say(channel, line);
  }
}

const DONE = { warn: "warned", mute: "muted", kick: "removed and muted" } as const;

function keyOf({ account, nick }: Speaker): string {
  return account === null ? `guest ${foldCase(nick)}` : foldCase(account);
}

/** The bot that acts on reports. It works on the IRC server of this program only. */
export function steward(parts: StewardParts) {
  return defineBot<"steward", Steward>({
    name: "steward",
    purpose: PURPOSES.steward,
    commands: [
      ...moderationCommands<Steward>("account"),
      {
        name: "STATUS",
        usage: "",
        purpose: "what it does by itself, what was done, and who is muted",
        may: "account",
        run: (bot, { speaker }) => bot.status(speaker),
      },
    ],
    start: (context) => Steward.start(context, parts),
  });
}

/** The steward: see steward.ts. */
