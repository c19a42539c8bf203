import { LiveParts } from "./live_parts.ts";
import { followUnread } from "./unread.ts";

/** Streams of event names, which this module follows; other streams have their own elements. */
const STREAMS = /^\/live\/(?:home$|projects\/)/;

/** Between two looks at work in progress, in milliseconds. */
const RUNNING_PAUSE = 2000;

/** Pauses before a refused stream is opened again, in milliseconds. */
const FIRST_PAUSE = 2000;
const LONGEST_PAUSE = 60_000;

/**
 * Keeps the live parts of a page current: an element with `data-live-part="NAME"` and
 * `data-live-on="ticket claim agent.*"` is fetched again when one of these events comes, and every
 * other second while it has `data-live-running`, also on a page that follows no events.
 *
 * A page in the background follows nothing, because a browser opens only six connections to a
 * server over HTTP/1.1. It resumes after the last event that it saw.
 */
export function startLive(): void {
  const { live = "", liveAfter } = document.body.dataset;
  if (STREAMS.test(live)) return new LivePage(live, liveAfter ?? null).start();
  if (document.querySelector("[data-live-running]") === null) return;
  const parts = new LiveParts();
  setInterval(() => parts.noteRunning(), RUNNING_PAUSE);
}

class LivePage {
  readonly #address: string;
  readonly #parts = new LiveParts();
  #last: string | null;
  #source: EventSource | null = null;
  #pause = FIRST_PAUSE;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(address: string, after: string | null) {
    this.#address = address;
    this.#last = after;
  }

  start(): void {
    document.addEventListener("visibilitychange", () => this.#follow());
    // A page that the browser takes out of its cache has missed everything since.
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", () => this.#follow());
    addEventListener("online", () => this.#follow());
    setInterval(() => this.#parts.noteRunning(), RUNNING_PAUSE);
    this.#follow();
  }

  #follow(): void {
    if (document.hidden) this.#close();
    else if (this.#source === null) this.#open();
  }

  #open(): void {
    clearTimeout(this.#timer);
    const query = this.#last === null ? "" : `?after=${this.#last}`;
    const source = new EventSource(this.#address + query);
    this.#source = source;
    source.onopen = () => this.#show("open");
    source.onmessage = ({ data, lastEventId }) => {
      this.#pause = FIRST_PAUSE;
      // News without a number leave the position as it is.
      if (lastEventId !== "") this.#last = lastEventId;
      this.#parts.note(data);
    };
    source.addEventListener("gap", () => this.#parts.noteAll());
    followUnread(source, () => this.#parts.note("unread"));
    source.onerror = () => {
      this.#show("closed");
      // After a broken connection the browser tries again by itself; a refusal is final.
      if (source.readyState === EventSource.CLOSED) this.#openLater();
    };
  }

  /** Opens the stream again after a refusal, and from now on: what it missed is loaded. */
  #openLater(): void {
    this.#close();
    this.#timer = setTimeout(() => {
      this.#last = null;
      this.#follow();
      this.#parts.noteAll();
    }, this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  /** Lets the style sheet show whether the page is current. */
  #show(state: "open" | "closed"): void {
    document.body.dataset["liveState"] = state;
  }
}
