import { amount } from "../../kernel/words.ts";
import { PURPOSES } from "../policies/mod.ts";
import { resolve } from "node:path";
import {
  type ChannelMessage,
  type ChannelSearch,
  type FoundMessages,
  parseEnvelope,
} from "../bridge/mod.ts";
import { Conflict, Invalid } from "../../kernel/errors.ts";
import { parseSearch } from "../messages/mod.ts";
import {
  type BotCommandCall,
  type BotContext,
  type BotInstance,
  type BotMessage,
  defineBot,
} from "./bot.ts";
import {
  type ChannelHistory,
  counted,
  countIn,
  formatted,
  newestMessages,
  readableChannel,
} from "./readable.ts";
import {
  append,
  fileName,
  lineOf,
  ownFiles,
  prune,
  type ScribeRecord,
  type ScribeSettings,
} from "./scribe_files.ts";

/** How long a message may wait before it is written, in milliseconds. */
const WRITE_AFTER_MS = 1000;

/** How often old records are removed, in milliseconds. */
const PRUNE_EVERY_MS = 3_600_000;

const DAY_MS = 86_400_000;

/** Most messages that wait to be written; further ones are dropped and counted. */
const MAX_WAITING = 20_000;

/** Messages that STATS reads. */
const COUNTED = 1000;

const TAIL_SHOWN = 5;
const MOST_SHOWN = 50;

/** Messages that SEARCH shows, and how often it asks the archive for them. */
const MOST_FOUND = 10;
const MOST_SEARCHES = 5;

/** The parameter of SEARCH that goes back in time. */
const BEFORE = /^before=/i;

/** What people say to this bot, which is no answer to them. */
const OWN_COMMAND = /^(?:!scribe\b|scribe[:,])/i;

/** Writes what is said into files, and finds it again. */
class Scribe implements BotInstance {
  readonly #context: BotContext<"scribe">;
  readonly #options: ScribeOptions;
  #waiting: ScribeRecord[] = [];
  #dropped = 0;
  #isDue = false;
  #isFailing = false;
  #wroteUnder: ScribeSettings;

  constructor(context: BotContext<"scribe">, options: ScribeOptions) {
    this.#context = context;
    this.#options = options;
    this.#wroteUnder = context.settings();
  }

  message({ channel, nick, account, text, timestamp, id }: BotMessage): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#dropped++;
      return;
    }
    const envelope = parseEnvelope(text);
    this.#waiting.push({
      at: timestamp,
      channel,
      nick,
      account,
      kind: envelope === null ? "message" : "envelope",
      message_type: envelope?.type ?? null,
      message_id: id,
      text,
    });
    this.#writeLater();
  }

  /** Writes in a second what waits then; if the disk refuses, again a second later, and so on. */
  #writeLater(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#context.after(WRITE_AFTER_MS, async () => {
      this.#isDue = false;
      try {
        await this.write(this.#context.settings());
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#context.log.error("scribe cannot write", { error });
        this.#isFailing = true;
        this.#writeLater();
      }
    });
  }

  /** Writes under the earlier settings what was said under them, and removes what is too old. */
  async settingsChanged(): Promise<void> {
    await this.write(this.#wroteUnder);
    this.#wroteUnder = this.#context.settings();
    await this.pruneNow();
  }

  async stop(): Promise<void> {
    await this.write(this.#wroteUnder);
  }

  /** Writes what waits. Rejects if the disk refuses; then it still waits. */
  async write(settings: ScribeSettings): Promise<void> {
    const folder = this.#folderOf(settings);
    const files = new Map<string, ScribeRecord[]>();
    for (const record of this.#waiting) {
      const name = fileName(settings, record.channel, Date.parse(record.at));
      const records = files.get(name) ?? [];
      records.push(record);
      files.set(name, records);
    }
    for (const [name, records] of files) {
      const lines = records.map((record) => lineOf(record, settings.format)).join("");
      await append(folder, name, lines, settings);
      const written = new Set(records);
      this.#waiting = this.#waiting.filter((record) => !written.has(record));
    }
    if (this.#dropped === 0) return;
    this.#context.record("bot.input_dropped", { bot: "scribe", count: this.#dropped });
    this.#dropped = 0;
  }

  /** Removes what is older than the settings allow, now and every hour. */
  async prune(): Promise<void> {
    await this.pruneNow();
    this.#context.after(PRUNE_EVERY_MS, () => this.prune());
  }

  async pruneNow(): Promise<void> {
    const settings = this.#context.settings();
    if (settings.max_age_days === 0) return;
    const before = new Date(this.#context.now() - settings.max_age_days * DAY_MS).toISOString();
    const { removed, shortened } = await prune(this.#folderOf(settings), before);
    if (removed + shortened === 0) return;
    this.#context.record("scribe.pruned", { before, removed, shortened });
  }

  async tail(call: BotCommandCall): Promise<string[]> {
    const channel = readableChannel(this.#context, call);
    const count = countIn(call.words, TAIL_SHOWN, MOST_SHOWN);
    const messages = await newestMessages(this.#options.history, channel, count);
    return messages.length === 0 ? [`Nothing was said in ${channel}`] : formatted(messages, "text");
  }

  /** The newest messages that have all terms, in everything that is kept of the channel. */
  async search(call: BotCommandCall): Promise<string[]> {
    const channel = readableChannel(this.#context, call);
    const words = call.words.filter((word) => !word.startsWith("#"));
    const sought = parseSearch(words.filter((word) => !BEFORE.test(word)).join(" "));
    if (sought.words.length + sought.speakers.length === 0) throw new Invalid("Name a term");
    let before = words.findLast((word) => BEFORE.test(word))?.replace(BEFORE, "");
    const found: ChannelMessage[] = [];
    for (let searches = 0; searches < MOST_SEARCHES && found.length < MOST_FOUND; searches++) {
      const limit = MOST_FOUND - found.length;
      const page = await this.#options.history.search(channel, { sought, before, limit });
      found.push(...page.messages.filter(({ text }) => !OWN_COMMAND.test(text)));
      before = page.searchedTo ?? undefined;
      if (before === undefined) break;
    }
    const shown = formatted(found.toReversed(), "text");
    const more = before === undefined ? "" : `; to search on, add before=${before}`;
    if (found.length === 0) return [`Found nothing in ${channel}${more}`];
    return [`${amount(found.length, "message")} in ${channel}${more}:`, ...shown];
  }

  async stats(call: BotCommandCall): Promise<string[]> {
    const channel = readableChannel(this.#context, call);
    const messages = await newestMessages(this.#options.history, channel, COUNTED);
    const speakers = counted(messages.map(({ nick }) => nick)).slice(0, 5);
    const files = await ownFiles(this.#folderOf(this.#context.settings()));
    const kilobytes = Math.ceil(files.reduce((sum, { bytes }) => sum + bytes, 0) / 1024);
    const said = messages.length < COUNTED
      ? amount(messages.length, "message")
      : `the last ${COUNTED} messages`;
    const shown = speakers.map(([nick, count]) => `${nick} ${count}`).join(", ");
    return [
      `${channel}: ${said}; ${shown || "nobody"}`,
      `${amount(files.length, "file")} with ${kilobytes} KB`,
    ];
  }

  #folderOf({ dir }: ScribeSettings): string {
    const { folder, dataFolder } = this.#options;
    if (dir === undefined || dir === "") return folder;
    const path = resolve(dataFolder, dir);
    if (path === "/") throw new Conflict('"dir" must be a folder of its own');
    return path;
  }
}

/** What was said in channels, which can be searched. */
export interface SearchableHistory extends ChannelHistory {
  /** As `Bridge.search`. */
  search(channel: string, wanted: ChannelSearch): Promise<FoundMessages>;
}

export interface ScribeOptions {
  readonly history: SearchableHistory;
  /** The default folder. */
  readonly folder: string;
  /** The folder that a relative `dir` is in. */
  readonly dataFolder: string;
}

/** The bot that writes what is said into files. */
export function scribe(options: ScribeOptions) {
  return defineBot<"scribe", Scribe>({
    name: "scribe",
    purpose: PURPOSES.scribe,
    commands: [
      {
        name: "TAIL",
        usage: "[#channel] [n]",
        purpose: "the last messages of a channel",
        may: "anyone",
        isPrivate: true,
        lines: MOST_SHOWN,
        run: (bot, call) => bot.tail(call),
      },
      {
        name: "SEARCH",
        usage: "term … [from:nick] [#channel] [before=time]",
        purpose: "the newest messages of a channel that contain all terms",
        may: "anyone",
        isPrivate: true,
        words: 1,
        run: (bot, call) => bot.search(call),
      },
      {
        name: "STATS",
        usage: "[#channel]",
        purpose: "how much was said in a channel, and by whom",
        may: "anyone",
        run: (bot, call) => bot.stats(call),
      },
    ],
    start: async (context) => {
      const bot = new Scribe(context, options);
      await bot.prune();
      return bot;
    },
  });
}
