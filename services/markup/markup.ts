import type { Scheduler } from "../scheduler.ts";
import { plainHtml } from "./plain.ts";
import type { RenderAnswer, RenderRequest } from "./protocol.ts";
import type { Source } from "./render.ts";

export interface MarkupOptions {
  readonly scheduler: Scheduler;
  /** Time limit for one text, in milliseconds. */
  readonly limitMs?: number;
}

const LIMIT_MS = 2_000;
/** An idle worker ends after this time, which frees its memory. */
const IDLE_MS = 60_000;
/** Longest rendered text, and longest HTML, in UTF-16 units. */
const MAX_TEXT = 1_048_576;
const MAX_HTML = 8_388_608;
/** Most waiting texts. */
const MAX_WAITING = 200;
/** Size of the cache, in UTF-16 units. */
const MAX_CACHED = 4_194_304;

/** Markups that the worker renders; all others are plain text. */
const RENDERED = new Set(["text/x-markdown", "text/markdown", "text/x-fossil-wiki", "text/html"]);

interface Job extends RenderRequest {
  resolve(html: string | null): void;
}

/**
 * Renders Markdown and Fossil's wiki markup as HTML that is safe to show, in a worker that starts
 * on demand. A text that is too long, takes too long, or comes while too many wait, is shown as
 * plain text.
 */
export class Markup {
  readonly #scheduler: Scheduler;
  readonly #limitMs: number;
  readonly #waiting: Job[] = [];
  /** HTML by its source, the least recently used first. */
  readonly #cache = new Map<string, string>();
  #cached = 0;
  #worker: Worker | null = null;
  #isReady = false;
  #running: Job | null = null;
  #cancelTimer: (() => void) | null = null;
  #lastId = 0;

  constructor(options: MarkupOptions) {
    this.#scheduler = options.scheduler;
    this.#limitMs = options.limitMs ?? LIMIT_MS;
  }

  /** The HTML of a text. Never fails. */
  async render(source: Source): Promise<string> {
    const { text, mimetype, links } = source;
    if (text.trim() === "") return "";
    if (!RENDERED.has(mimetype) || text.length > MAX_TEXT) return plainHtml(text);
    const key = JSON.stringify([mimetype, links]) + text;
    const known = this.#cache.get(key);
    if (known !== undefined) {
      this.#keep(key, known);
      return known;
    }
    const html = await this.#ask(source);
    if (html === null || html.length > MAX_HTML) return plainHtml(text);
    this.#keep(key, html);
    return html;
  }

  /** Ends the worker; waiting texts are shown as plain text. */
  close(): void {
    this.#end();
    for (const { resolve } of this.#waiting.splice(0)) resolve(null);
  }

  #ask(source: Source): Promise<string | null> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.resolve(null);
    const { promise, resolve } = Promise.withResolvers<string | null>();
    this.#waiting.push({ id: ++this.#lastId, source, resolve });
    this.#next();
    return promise;
  }

  #next(): void {
    if (this.#running !== null) return;
    this.#stopTimer();
    if (this.#waiting.length === 0) {
      if (this.#worker !== null) this.#setTimer(IDLE_MS, () => this.#end());
      return;
    }
    this.#worker ??= this.#start();
    if (!this.#isReady) return;
    const job = this.#waiting.shift() ?? null;
    if (job === null) return;
    this.#running = job;
    this.#setTimer(this.#limitMs, () => this.#fail());
    this.#worker.postMessage({ id: job.id, source: job.source } satisfies RenderRequest);
  }

  #start(): Worker {
    const worker = new Worker(new URL("./markup_worker.ts", import.meta.url), {
      type: "module",
      name: "markup",
    });
    worker.onmessage = ({ data }: MessageEvent<RenderAnswer>) => {
      if (worker !== this.#worker) return;
      if (data.kind === "ready") this.#isReady = true;
      else this.#settle(data.html);
      this.#next();
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker !== this.#worker) return;
      if (!this.#isReady) this.close();
      else this.#fail();
    };
    return worker;
  }

  /** Gives up the running text, and ends its worker. */
  #fail(): void {
    this.#end();
    this.#next();
  }

  #end(): void {
    this.#stopTimer();
    this.#worker?.terminate();
    this.#worker = null;
    this.#isReady = false;
    this.#settle(null);
  }

  #settle(html: string | null): void {
    this.#running?.resolve(html);
    this.#running = null;
  }

  #setTimer(milliseconds: number, task: () => void): void {
    this.#stopTimer();
    this.#cancelTimer = this.#scheduler.after(milliseconds, task);
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #keep(key: string, html: string): void {
    const size = key.length + html.length;
    if (size > MAX_CACHED / 4) return;
    if (this.#cache.delete(key)) this.#cached -= size;
    this.#cache.set(key, html);
    this.#cached += size;
    for (const [oldest, value] of this.#cache) {
      if (this.#cached <= MAX_CACHED) return;
      this.#cache.delete(oldest);
      this.#cached -= oldest.length + value.length;
    }
  }
}
