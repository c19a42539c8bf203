import type { HereEntry } from "./chat_here.ts";
import type { SentMessage } from "./sent_message.ts";
import { followUnread } from "./unread.ts";

/** Pauses before a broken stream is opened again, in milliseconds. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;

/**
 * How long a page in the background keeps its stream, in milliseconds: a browser opens only six
 * connections to a server over HTTP/1.1.
 */
const HIDDEN = 5 * 60_000;

/** Gets what comes. */
export interface ChatEvents {
  message(id: string, message: SentMessage): void;
  joined(entry: HereEntry): void;
  left(nick: string): void;
  here(entries: readonly HereEntry[]): void;
  topic(text: string): void;
}

/** The stream of a channel. It comes back by itself, after the last message that it brought. */
export class ChatStream {
  readonly #address: string;
  readonly #state: HTMLElement | null;
  readonly #events: ChatEvents;
  #last: string | null = null;
  #source: EventSource | null = null;
  #pause = FIRST_PAUSE;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(address: string, chat: HTMLElement, events: ChatEvents) {
    this.#address = address;
    this.#state = chat.querySelector(".chat-state");
    this.#events = events;
  }

  start(): void {
    document.addEventListener("visibilitychange", () => this.#watch());
    // A page that the browser takes out of its cache has missed everything since.
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", () => this.#open());
    addEventListener("online", () => this.#open());
    this.#open();
  }

  #watch(): void {
    if (!document.hidden) return this.#open();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#close(), HIDDEN);
  }

  #open(): void {
    clearTimeout(this.#timer);
    if (this.#source !== null) return;
    const url = new URL(this.#address, location.href);
    if (this.#last !== null) url.searchParams.set("lastEventId", this.#last);
    const source = new EventSource(url);
    this.#source = source;
    source.onopen = () => {
      this.#pause = FIRST_PAUSE;
      this.#show("");
    };
    source.onmessage = ({ data, lastEventId }) => {
      this.#last = lastEventId;
      this.#events.message(lastEventId, JSON.parse(data));
    };
    source.addEventListener("joined", ({ data }) => this.#events.joined(JSON.parse(data)));
    source.addEventListener("left", ({ data }) => this.#events.left(JSON.parse(data)));
    source.addEventListener("here", ({ data }) => this.#events.here(JSON.parse(data)));
    source.addEventListener("topic", ({ data }) => this.#events.topic(JSON.parse(data)));
    // Messages are missing between what the page shows and what comes.
    source.addEventListener("gap", () => location.assign(location.pathname));
    followUnread(source);
    source.onerror = () => this.#broken(source);
  }

  /** After a lost connection the browser tries again by itself; a refusal is final for it. */
  #broken(source: EventSource): void {
    this.#show("Reconnecting…");
    if (source.readyState !== EventSource.CLOSED) return;
    this.#close();
    this.#timer = setTimeout(() => void this.#retry(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  /** Opens the stream again, if the page may still be read. */
  async #retry(): Promise<void> {
    const response = await fetch(location.href, { method: "HEAD" }).catch(() => null);
    // The page itself says why: the session has ended, or the channel is closed now.
    if (response?.redirected || (response !== null && isFinal(response.status))) {
      return location.reload();
    }
    this.#open();
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #show(words: string): void {
    if (this.#state === null) return;
    this.#state.textContent = words;
    this.#state.hidden = words === "";
  }
}

function isFinal(status: number): boolean {
  return status === 401 || status === 403 || status === 404;
}
