import { amount } from "../../kernel/words.ts";
import { PURPOSES } from "../policies/mod.ts";
import { z } from "zod";
import { type ChannelActivity, parseEnvelope } from "../bridge/mod.ts";
import { Invalid } from "../../kernel/errors.ts";
import type { EventLog, LoggedEvent } from "../../engines/events/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import {
  type BotCommandCall,
  type BotContext,
  type BotInstance,
  type BotMessage,
  defineBot,
} from "./bot.ts";
import { MAX_STATE_LENGTH } from "./bot_state.ts";
import { countIn } from "./readable.ts";

/** Entries of its own record. */
const MAX_ENTRIES = 1000;

/** Events that QUERY looks through, beside the record. */
const SEARCHED = 2000;

const RECENT_SHOWN = 10;
const MOST_RECENT = 50;
const QUERY_SHOWN = 10;
const MOST_QUERIED = 25;

/** Longest text about one event. */
const LINE_LENGTH = 300;

/** How long a change of the record may wait before it is stored, in milliseconds. */
const STORE_AFTER_MS = 5000;

/** The key of the record in the bot's state. */
const KEY = "record";

/** Something in a channel, which the event log does not hold. */
const entrySchema = z.object({
  /** Unix milliseconds. */
  time: z.number(),
  /** `channel.join` and the like, or `message.` and the type of an envelope. */
  type: z.string(),
  channel: z.string(),
  nick: z.string(),
  text: z.string(),
});
type AuditRecord = z.infer<typeof entrySchema>;
const recordSchema = z.array(entrySchema);

/** What RECENT and QUERY show. */
interface Shown {
  readonly time: number;
  readonly text: string;
}

/** Activities of one kind in the present window. */
interface Window {
  readonly since: number;
  count: number;
  omitted: number;
}

/** Answers questions about the event log, and keeps a record of what it lacks. */
class Auditbot implements BotInstance {
  readonly #context: BotContext<"auditbot">;
  readonly #eventLog: Pick<EventLog, "read" | "newest">;
  readonly #record: AuditRecord[];
  readonly #windows = new Map<ChannelActivity["kind"], Window>();
  #isStoring = false;

  constructor(
    context: BotContext<"auditbot">,
    eventLog: Pick<EventLog, "read" | "newest">,
    record: readonly AuditRecord[],
  ) {
    this.#context = context;
    this.#eventLog = eventLog;
    this.#record = [...record];
  }

  activity(activity: ChannelActivity): void {
    const { kind, channel, nick, by, to } = activity;
    const type = `channel.${kind}`;
    if (!this.#isAudited(type) || !this.#admit(kind)) return;
    const text = kind === "nick" ? `to ${to}` : by === null ? "" : `by ${by}`;
    this.#add({ time: this.#context.now(), type, channel, nick, text });
  }

  message({ channel, nick, account, text, isFromBot }: BotMessage): void {
    const envelope = isFromBot ? null : parseEnvelope(text);
    if (envelope === null) return;
    const type = `message.${envelope.type}`.slice(0, LINE_LENGTH);
    if (!this.#isAudited(type)) return;
    const id = envelope.id.slice(0, 64);
    this.#add({ time: this.#context.now(), type, channel, nick: account ?? nick, text: id });
  }

  async stop(): Promise<void> {
    await this.#store();
  }

  status(): string {
    const types = this.#context.settings().audit_types;
    const audited = types.length === 0 ? "everything" : types.join(", ");
    const { newest } = this.#eventLog;
    const own = amount(this.#record.length, "entry", "entries");
    return `The event log is at number ${newest}; ${own} about channels; ` +
      `audited: ${audited}`;
  }

  async recent({ words }: BotCommandCall): Promise<string[]> {
    const count = countIn(words, RECENT_SHOWN, MOST_RECENT);
    const { events } = await this.#eventLog.read({ limit: count, types: this.#eventTypes() });
    return linesOf([...events.map(shownEvent), ...this.#record.map(shownEntry)], count);
  }

  /** @throws Invalid */
  async query({ words }: BotCommandCall): Promise<string[]> {
    const [wanted = ""] = words;
    if (/[\p{Cc}\s]/u.test(wanted)) throw new Invalid("Name an account or a channel");
    const count = countIn(words.slice(1), QUERY_SHOWN, MOST_QUERIED);
    const folded = foldCase(wanted);
    const { events } = await this.#eventLog.read({ limit: SEARCHED, types: this.#eventTypes() });
    const about = events.filter((event) => concerns(event, folded)).map(shownEvent);
    const own = this.#record.filter(({ channel, nick }) =>
      foldCase(nick) === folded || foldCase(channel) === folded
    ).map(shownEntry);
    return linesOf([...about, ...own], count);
  }

  /** The types of events to read. */
  #eventTypes(): readonly string[] {
    const types = this.#context.settings().audit_types;
    return types.length === 0 ? ["*"] : types;
  }

  #isAudited(type: string): boolean {
    const types = this.#context.settings().audit_types;
    return types.length === 0 ||
      types.some((one) => one.endsWith("*") ? type.startsWith(one.slice(0, -1)) : one === type);
  }

  /** Whether an activity is recorded; beyond the limit of its window, it is only counted. */
  #admit(kind: ChannelActivity["kind"]): boolean {
    const settings = this.#context.settings();
    const most = settings[`throttle_${kind}_max`];
    const length = settings.throttle_window_sec * 1000;
    if (most === 0 || length === 0) return true;
    const now = this.#context.now();
    let window = this.#windows.get(kind);
    if (window === undefined || now - window.since >= length) {
      window = { since: now, count: 0, omitted: 0 };
      this.#windows.set(kind, window);
    }
    window.count++;
    if (window.count <= most) return true;
    if (window.omitted++ === 0) this.#summarizeLater(kind, window, window.since + length - now);
    return false;
  }

  /** Records at the end of a window how much was left out. */
  #summarizeLater(kind: ChannelActivity["kind"], window: Window, milliseconds: number): void {
    this.#context.after(milliseconds, () => {
      const seconds = Math.round((this.#context.now() - window.since) / 1000);
      const text = `${window.omitted} more in ${seconds} s`;
      const type = `channel.${kind}`;
      this.#add({ time: this.#context.now(), type, channel: "*", nick: "*", text });
      this.#context.record("audit.throttled", { activity: kind, count: window.omitted, seconds });
    });
  }

  #add(entry: AuditRecord): void {
    this.#record.push(entry);
    if (this.#record.length > MAX_ENTRIES) this.#record.shift();
    if (this.#isStoring) return;
    this.#isStoring = true;
    this.#context.after(STORE_AFTER_MS, async () => {
      this.#isStoring = false;
      await this.#store();
    });
  }

  /** Stores the record, without the oldest entries if its texts are too long together. */
  async #store(): Promise<void> {
    const record = this.#record;
    while (JSON.stringify(record).length > MAX_STATE_LENGTH) {
      record.splice(0, Math.ceil(record.length / 10));
    }
    await this.#context.state.write(KEY, record);
  }
}

/** Whether an event is by or about an account or a channel. */
function concerns({ actor, data }: LoggedEvent, folded: string): boolean {
  const [, name = actor] = actor.split(":", 2);
  if (foldCase(name) === folded) return true;
  return Object.values(data).some((value) =>
    typeof value === "string" && foldCase(value) === folded
  );
}

function shownEvent({ time, type, actor, data }: LoggedEvent): Shown {
  const fields = Object.entries(data).filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return { time: Date.parse(time), text: `${type} by ${actor} ${fields.join(" ")}` };
}

function shownEntry({ time, type, channel, nick, text }: AuditRecord): Shown {
  return { time, text: `${type} ${channel} ${nick} ${text}` };
}

/** The newest lines, oldest first. */
function linesOf(shown: readonly Shown[], count: number): string[] {
  const newest = [...shown].sort((one, other) => one.time - other.time).slice(-count);
  if (newest.length === 0) return ["There is nothing"];
  return newest.map(({ time, text }) => {
    return `${new Date(time).toISOString()} ${text}`.trim().slice(0, LINE_LENGTH);
  });
}

/** The bot that answers questions about the event log. */
export function auditbot(eventLog: Pick<EventLog, "read" | "newest">) {
  return defineBot<"auditbot", Auditbot>({
    name: "auditbot",
    purpose: PURPOSES.auditbot,
    commands: [
      {
        name: "STATUS",
        usage: "",
        purpose: "how much is logged, and what is audited",
        may: "anyone",
        run: (bot) => bot.status(),
      },
      {
        name: "RECENT",
        usage: "[n]",
        purpose: "the last events",
        may: "admin",
        isPrivate: true,
        lines: MOST_RECENT,
        run: (bot, call) => bot.recent(call),
      },
      {
        name: "QUERY",
        usage: "name|#channel [n]",
        purpose: "the last events by or about an account or a channel",
        may: "admin",
        isPrivate: true,
        words: 1,
        lines: MOST_QUERIED,
        run: (bot, call) => bot.query(call),
      },
    ],
    start: async (context) =>
      new Auditbot(context, eventLog, await context.state.read(KEY, () => recordSchema) ?? []),
  });
}
