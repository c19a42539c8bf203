import { jsonLine } from "../../routes/event_streams.ts";
import { foldCase } from "../../services/engines/irc/mod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import type { Caller } from "../../services/people/identity/mod.ts";
import type { Log } from "../../services/kernel/log.ts";
import type { Scheduler } from "../../services/kernel/scheduler.ts";
import { sentMessage } from "../parts/chat/message.tsx";
import { addressing } from "../parts/chat/robots.ts";

/** How often the counts are compared with those before, in milliseconds. */
const STEP = 2000;

/** For so many accounts with open pages, it looks half as often; for twice as many, a third. */
const MANY = 100;

/** What an account has not read, as a page gets it. */
export interface UnreadNews {
  readonly kind: "unread";
  /** Names of channels, with the number of messages and of those that name the reader. */
  readonly channels: readonly (readonly [name: string, unread: number, mentions: number])[];
  /** Who wrote to the reader alone. */
  readonly people: readonly string[];
}

export interface UnreadWatchOptions {
  readonly services: Pick<Services, "chats" | "config" | "conversations">;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** An open page. */
interface Reader {
  readonly caller: Caller;
  /** The channel or the nick that the page shows, folded, and that is left out. */
  readonly place: string;
  readonly tell: (news: UnreadNews) => void;
  /** What it was told last, as JSON; null if it knows what its page had at the start. */
  told: string | null;
}

/**
 * Tells open pages what their reader has not read. It looks only while there are such pages, once
 * for all pages of an account, and tells a page only what has changed.
 */
export class UnreadWatch {
  readonly #options: UnreadWatchOptions;
  readonly #readers = new Set<Reader>();
  #cancel: () => void = () => {};
  #isLooking = false;

  constructor(options: UnreadWatchOptions) {
    this.#options = options;
  }

  /**
   * Tells a page about changes.
   *
   * @param place the channel or the nick that the page shows, whose messages it has
   * @returns ends it
   */
  add(caller: Caller, place: string, tell: (news: UnreadNews) => void): () => void {
    const reader: Reader = { caller, place: foldCase(place), tell, told: null };
    this.#readers.add(reader);
    if (this.#readers.size === 1) this.#expect();
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#cancel();
    };
  }

  #expect(): void {
    const accounts = new Set(Array.from(this.#readers, ({ caller }) => caller.principal.id)).size;
    const pause = STEP * (1 + Math.floor(accounts / MANY));
    this.#cancel = this.#options.scheduler.after(pause, () => {
      this.#expect();
      if (this.#isLooking) return;
      this.#isLooking = true;
      this.#look().catch((error: unknown) => {
        this.#options.log.warn("Open pages could not be told what is unread", { error });
      }).finally(() => {
        this.#isLooking = false;
      });
    });
  }

  async #look(): Promise<void> {
    const byAccount = Map.groupBy(this.#readers, ({ caller }) => caller.principal.id);
    for (const readers of byAccount.values()) {
      const [first] = readers;
      if (first === undefined) continue;
      const news = await this.#newsOf(first.caller);
      const byPlace = new Map<string, UnreadNews & { readonly json: string }>();
      for (const reader of readers) {
        const own = byPlace.get(reader.place) ?? without(news, reader.place);
        byPlace.set(reader.place, own);
        if (own.json === reader.told || !this.#readers.has(reader)) continue;
        reader.told = own.json;
        reader.tell(own);
      }
    }
  }

  async #newsOf(caller: Caller): Promise<UnreadNews> {
    const { services } = this.#options;
    const { chats, conversations } = services;
    const channels = chats.sidebar(caller, addressing(services)).filter(({ unread }) => unread > 0)
      .map(({ name, unread, mentions }) => [name, unread, mentions] as const);
    const people = (await conversations.unread(caller)).map(({ nick }) => nick);
    return { kind: "unread", channels, people };
  }
}

/** The news without those of a place, and their JSON. */
function without({ kind, channels, people }: UnreadNews, place: string) {
  const shown = {
    kind,
    channels: channels.filter(([name]) => foldCase(name) !== place),
    people: people.filter((nick) => foldCase(nick) !== place),
  };
  return Object.assign(shown, { json: JSON.stringify([shown.channels, shown.people]) });
}

/** The event with what its reader has not read. It has no id, so a resumed stream is not moved. */
export function unreadEvent({ channels, people }: UnreadNews): string {
  return `event: unread\ndata: ${jsonLine({ channels, people })}`;
}

/** The event of a message. */
export function messageEvent(sent: Parameters<typeof sentMessage>[0]): string {
  return `id: ${sent.message.id}\ndata: ${jsonLine(sentMessage(sent))}`;
}
