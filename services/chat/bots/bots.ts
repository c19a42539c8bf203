import type { Bridge, BridgeEars, ChannelMessage, HeardAs } from "../bridge/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { channelName, foldCase, type ObservedMessage } from "../../engines/irc/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { BotSettings, KnownBot, Policies } from "../policies/mod.ts";
import type { BotMessage, BotName, BotSource, Speaker } from "./bot.ts";
import { type BotCondition, BotRunner, type BotSurroundings } from "./bot_runner.ts";
import { readAddress } from "./commands.ts";

/** Most bots of others that are remembered as answered. */
const MAX_ANSWERED = 1000;

export interface BotsOptions
  extends Omit<BotSurroundings, "channels" | "enter" | "isBot" | "isIn" | "speakerOf"> {
  readonly sources: readonly BotSource[];
  readonly policies: Pick<Policies, "of" | "onChanged">;
  readonly bridge: Pick<Bridge, "nick" | "channels" | "join" | "listen" | "sees">;
  readonly accounts: Pick<AccountDirectory, "find">;
  /** Those that a login to IRC proves; on an existing network, fewer. */
  readonly networkAccounts: Pick<AccountDirectory, "find">;
}

/** A bot in a list. */
export interface BotSummary {
  readonly name: BotName;
  readonly condition: BotCondition;
}

/**
 * The bots: runs those that their policies enable, passes them what happens on IRC, and finds the
 * one that a command addresses. Changed policies take effect at once.
 */
export class Bots {
  readonly #options: BotsOptions;
  readonly #runners = new Map<string, BotRunner>();
  /** The present settings of bots that asked: a bot may ask with every message. */
  readonly #settings = new Map<BotName, unknown>();
  /** The settings as last announced, by bot, as JSON. */
  readonly #known = new Map<BotName, string>();
  /** Folded names of all bots and of the bridge. */
  readonly #ownNames: ReadonlySet<string>;
  /** Bots of others that had an answer, folded. */
  readonly #answered = new BoundedMap<string, true>(MAX_ANSWERED);
  readonly #changes: Promise<unknown>[] = [];
  #stopListening: readonly (() => void)[] = [];

  constructor(options: BotsOptions) {
    this.#options = options;
    const { sources, bridge } = options;
    this.#ownNames = new Set([bridge.nick, ...sources.map(({ name }) => name)].map(foldCase));
    for (const source of sources) {
      const surroundings: BotSurroundings = {
        ...options,
        channels: () => bridge.channels(),
        enter: (channel) => bridge.join(channel),
        isIn: (nick, channel) => bridge.sees(nick, channel),
        speakerOf: (nick, account) => speakerOf(nick, account, options.networkAccounts),
        isBot: (nick) => this.#isOwnBot(nick),
      };
      const settings = () => this.#settingsOf(source.name);
      this.#runners.set(source.name, new BotRunner({ ...surroundings, source, settings }));
    }
  }

  /** Starts the enabled bots, and follows IRC and the policies from now on. */
  start(): void {
    const { bridge, policies, voices } = this.#options;
    const ears: BridgeEars = {
      message: (channel, message, as) => this.#hear(channel, message, as),
      activity: (activity) => {
        const isEntry = activity.kind === "join";
        for (const runner of this.#runners.values()) {
          if (activity.isBridge) runner.follow(activity.channel, isEntry);
          else if (!this.#isOwnBot(activity.nick)) runner.pass((bot) => bot.activity?.(activity));
        }
      },
    };
    this.#stopListening = [
      bridge.listen(ears),
      voices.onPrivate((message) => this.#hearPrivate(message)),
      policies.onChanged(() => this.#apply()),
    ];
    this.#apply();
  }

  /** Stops every bot. They can start again. */
  async stop(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    this.#known.clear();
    await Promise.all(this.#changes);
    await Promise.all(
      Array.from(this.#runners.values(), (runner) => runner.stop("The server is shutting down")),
    );
  }

  /** Every bot, in the order of the sources. */
  list(): BotSummary[] {
    return Array.from(this.#runners.values(), ({ name, condition }) => ({ name, condition }));
  }

  /** Resolves when the bots have handled everything so far; for tests. */
  async idle(): Promise<void> {
    await Promise.all(this.#changes);
    await Promise.all(Array.from(this.#runners.values(), (runner) => runner.idle()));
  }

  /** Starts and stops bots as the policies say, and tells the others of changed settings. */
  #apply(): void {
    this.#settings.clear();
    for (const runner of this.#runners.values()) {
      const settings = this.#options.policies.of(runner.name) as BotSettings<KnownBot>;
      const text = JSON.stringify(settings);
      const isChanged = this.#known.get(runner.name) !== text;
      this.#known.set(runner.name, text);
      if (!isChanged) continue;
      if (!settings.enabled) this.#track(runner.stop("Disabled in its policy"));
      else if (runner.condition === "stopped") this.#startAfterStop(runner);
      else runner.pass((bot) => bot.settingsChanged?.());
    }
  }

  #settingsOf(bot: BotName): unknown {
    const settings = this.#settings.get(bot) ?? this.#options.policies.of(bot);
    this.#settings.set(bot, settings);
    return settings;
  }

  /** Starts a bot, once an earlier stop of it is over. */
  #startAfterStop(runner: BotRunner): void {
    const isWanted = () => (this.#options.policies.of(runner.name) as { enabled: boolean }).enabled;
    this.#track(
      Promise.all(this.#changes).then(() => {
        if (isWanted()) runner.start();
      }),
    );
  }

  #track(change: Promise<unknown>): void {
    this.#changes.push(change);
    change.finally(() => this.#changes.splice(this.#changes.indexOf(change), 1));
  }

  #hear(channel: string, message: ChannelMessage, as: HeardAs): void {
    if (!this.#isAnyEnabled()) return;
    const { accounts, networkAccounts } = this.#options;
    const known = as.isOurs ? accounts : networkAccounts;
    const speaker = speakerOf(message.nick, provenAccount(message, as), known);
    const isOwnBot = this.#isOwnBot(message.account) || (as.isOurs && as.isQuiet);
    const isFromBot = isOwnBot || (as.isBot && speaker.kind === null);
    const heard: BotMessage = { ...message, channel, speaker, isFromBot };
    for (const runner of this.#runners.values()) runner.pass((bot) => bot.message?.(heard));
    if (isOwnBot || as.isNotice) return;
    const addressed = readAddress(message.text);
    const runner = addressed === null ? undefined : this.#runners.get(addressed.name);
    if (addressed === null || runner === undefined) return;
    if (!this.#mayAnswer(runner, heard.isFromBot, speaker)) return;
    runner.command(addressed.text, { speaker, channel });
  }

  #hearPrivate({ receiver, sender, text }: ObservedMessage): void {
    const runner = this.#runners.get(foldCase(receiver?.account ?? ""));
    if (runner === undefined || this.#isOwnBot(sender.account)) return;
    const speaker = speakerOf(sender.nick, sender.account, this.#options.networkAccounts);
    const [line = ""] = text.split("\n", 1);
    if (line.startsWith("\x01")) return;
    const addressed = readAddress(line);
    const command = addressed?.name === foldCase(runner.name) ? addressed.text : line;
    runner.command(command, { speaker, channel: null });
  }

  #isAnyEnabled(): boolean {
    for (const { condition } of this.#runners.values()) {
      if (condition !== "stopped") return true;
    }
    return false;
  }

  #isOwnBot(account: string | null): boolean {
    return account !== null && this.#ownNames.has(foldCase(account));
  }

  /** A bot of others gets one answer of each bot, so that two bots do not talk endlessly. */
  #mayAnswer(runner: BotRunner, isFromBot: boolean, { nick }: Speaker): boolean {
    if (!isFromBot) return true;
    const key = `${runner.name} ${foldCase(nick)}`;
    if (this.#answered.get(key) === true) return false;
    this.#answered.set(key, true);
    return true;
  }
}

function speakerOf(
  nick: string,
  account: string | null,
  accounts: Pick<AccountDirectory, "find">,
): Speaker {
  const found = account === null ? null : accounts.find(account);
  if (found === null || found.revokedAt !== null) return { nick, account, kind: null, id: null };
  return { nick, account: found.name, kind: found.kind, id: found.id };
}

/** The account behind a message; null if the bridge said it in the name of somebody else. */
function provenAccount({ account, via }: ChannelMessage, { isOurs }: HeardAs): string | null {
  return isOurs && via !== undefined ? null : account;
}

/** The channels in which the enabled bots report. */
export function reportChannels(policies: Pick<Policies, "of">): string[] {
  const sentinel = policies.of("sentinel");
  const steward = policies.of("steward");
  const snitch = policies.of("snitch");
  const shepherd = policies.of("shepherd");
  const herald = policies.of("herald");
  const places: readonly (readonly [isEnabled: boolean, channel: string])[] = [
    [sentinel.enabled, sentinel.mod_channel],
    [steward.enabled, steward.mod_channel],
    [snitch.enabled, snitch.alert_channel],
    [shepherd.enabled, shepherd.report_channel],
    [herald.enabled, herald.channel],
  ];
  return places.flatMap(([isEnabled, channel]) => isEnabled ? channelName(channel) ?? [] : []);
}
