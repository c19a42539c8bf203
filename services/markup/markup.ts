import process from "node:process";
import { Unavailable } from "../errors.ts";
import { BoundedMap } from "../kernel/bounded_map.ts";
import type { Scheduler } from "../scheduler.ts";
import { startThread } from "../threads.ts";
import { Failures } from "./failures.ts";
import { FairQueue } from "./fair_queue.ts";
import { plainHtml } from "./plain.ts";
import { languageOf } from "./languages.ts";
import type { RenderAnswer, RenderRequest } from "./protocol.ts";
import type { Source } from "./render.ts";

export interface MarkupOptions {
  readonly scheduler: Scheduler;
  /** How long one text may compute, in milliseconds. */
  readonly limitMs?: number;
  /** The processor time of the program so far, in milliseconds. */
  readonly computed?: () => number;
  /** Starts a worker that runs `markup_worker.ts`. */
  readonly startWorker?: () => MarkupWorker;
}

/** What is used of a worker. */
export type MarkupWorker = Pick<Worker, "postMessage" | "terminate" | "onmessage" | "onerror">;

const LIMIT_MS = 2_000;
/** How much longer it may take by the clock, in milliseconds: a busy machine has no core for it. */
const MOST_WAITING_MS = 20_000;
/** Least time between two looks at a text that takes long, in milliseconds. */
const LOOK_MS = 100;
/** An idle worker ends after this time, which frees its memory. */
const IDLE_MS = 60_000;
/** Longest rendered text, and longest HTML, in UTF-16 units. */
const MAX_TEXT = 1_048_576;
const MAX_HTML = 8_388_608;
/** Most waiting texts, of all projects and of one. */
const MAX_WAITING = 1000;
const MAX_WAITING_OF_ONE = 200;
/** Longest code whose syntax is shown, in UTF-16 units. */
const MAX_CODE = 262_144;
/** Size of the cache, in UTF-16 units. */
const MAX_CACHED = 4_194_304;

/** Markups that the worker renders; all others are plain text. */
const RENDERED = new Set(["text/x-markdown", "text/markdown", "text/x-fossil-wiki", "text/html"]);

interface Job extends RenderRequest {
  readonly project: string;
  readonly key: string;
  resolve(html: string | null): void;
}

/**
 * Renders Markdown and Fossil's wiki markup as HTML that is safe to show, in a worker that starts
 * on demand. A text that is too long, takes too long, or comes while too many wait or no thread can
 * start, is shown as plain text. So are the texts of a project that has used too much of the
 * worker's time.
 */
export class Markup {
  readonly #scheduler: Scheduler;
  readonly #limitMs: number;
  readonly #computed: () => number;
  readonly #startWorker: () => MarkupWorker;
  readonly #waiting: FairQueue<Job>;
  readonly #failures: Failures;
  /** The texts that wait or are being rendered, by key: each is rendered once. */
  readonly #asked = new Map<string, Promise<string | null>>();
  /** HTML by its source, the least recently used first. */
  readonly #cache = new BoundedMap<string, string>(
    MAX_CACHED,
    (html, key) => key.length + html.length,
  );
  #worker: MarkupWorker | null = null;
  #isReady = false;
  #running: Job | null = null;
  /** When the running text began, by the clock and by processor time. */
  #began = { at: 0, computed: 0 };
  #cancelTimer: (() => void) | null = null;
  #lastId = 0;

  constructor(options: MarkupOptions) {
    this.#scheduler = options.scheduler;
    this.#limitMs = options.limitMs ?? LIMIT_MS;
    this.#computed = options.computed ?? computed;
    this.#startWorker = options.startWorker ?? startMarkupWorker;
    this.#waiting = new FairQueue(options.scheduler.now);
    this.#failures = new Failures(options.scheduler.now);
  }

  /** The HTML of a text. Never fails. */
  async render(source: Source): Promise<string> {
    const { text, mimetype } = source;
    if (text.trim() === "") return "";
    if (!RENDERED.has(mimetype) || text.length > MAX_TEXT) return plainHtml(text);
    return await this.#htmlOf(source) ?? plainHtml(text);
  }

  /** The HTML from the cache or the worker; null after a failure. */
  async #htmlOf(source: Source): Promise<string | null> {
    const { text, mimetype, language, links } = source;
    const key = JSON.stringify([mimetype, language, links]) + text;
    const known = this.#cache.get(key);
    if (known !== undefined) {
      this.#keep(key, known);
      return known;
    }
    let asked = this.#asked.get(key);
    if (asked === undefined) {
      asked = this.#ask(key, source).finally(() => this.#asked.delete(key));
      this.#asked.set(key, asked);
    }
    return await asked;
  }

  /**
   * The lines of code as HTML that shows their syntax, joined by line feeds. Null if they must be
   * shown as plain text: the name of the file tells no language, the code is too long, or see
   * {@link render}.
   *
   * @param project the prefix of the project's pages
   */
  async highlight(project: string, path: string, code: string): Promise<string | null> {
    const language = languageOf(path);
    if (language === null || code.length > MAX_CODE) return null;
    const links = { base: project, known: {} };
    return await this.#htmlOf({ text: code, mimetype: "text/plain", language, links });
  }

  /** The texts that the worker renders, and that wait for it. */
  get load(): { readonly running: number; readonly queued: number } {
    return { running: this.#running === null ? 0 : 1, queued: this.#waiting.size };
  }

  /** Ends the worker; waiting texts are shown as plain text. */
  close(): void {
    this.#end();
    for (const { resolve } of this.#waiting.drain()) resolve(null);
  }

  /** Null if the text must be shown as plain text. */
  async #ask(key: string, source: Source): Promise<string | null> {
    const project = source.links.base;
    if (this.#failures.has(key) || this.#waiting.isOverdrawn(project)) return null;
    if (this.#waiting.size >= MAX_WAITING) return null;
    if (this.#waiting.sizeOf(project) >= MAX_WAITING_OF_ONE) return null;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    this.#waiting.add({ id: ++this.#lastId, project, key, source, resolve });
    this.#next();
    const html = await promise;
    if (html === null) return null;
    if (html.length > MAX_HTML) {
      this.#failures.add(key);
      return null;
    }
    this.#keep(key, html);
    return html;
  }

  #next(): void {
    if (this.#running !== null) return;
    this.#stopTimer();
    const job = this.#isReady ? this.#nextAllowed() : null;
    if (job === null && this.#waiting.size === 0) {
      if (this.#worker !== null) this.#setTimer(IDLE_MS, () => this.#end());
      return;
    }
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      if (error instanceof Unavailable) return this.close();
      throw error;
    }
    if (job === null) return;
    this.#running = job;
    this.#began = { at: this.#scheduler.now(), computed: this.#computed() };
    this.#look(this.#limitMs);
    this.#worker.postMessage({ id: job.id, source: job.source } satisfies RenderRequest);
  }

  /** Gives up the running text once it has used its time. Other threads count, so it may have less. */
  #look(afterMs: number): void {
    this.#setTimer(afterMs, () => {
      const left = this.#limitMs - this.#usedTime();
      const isLate = this.#scheduler.now() - this.#began.at >= this.#limitMs + MOST_WAITING_MS;
      if (left <= 0 || isLate) this.#fail();
      else this.#look(Math.max(left, LOOK_MS));
    });
  }

  /** Most milliseconds that the running text can have computed so far. */
  #usedTime(): number {
    const { at, computed } = this.#began;
    return Math.min(this.#scheduler.now() - at, this.#computed() - computed);
  }

  /** The next text; those of projects that have used too much time are given up. */
  #nextAllowed(): Job | null {
    for (let job = this.#waiting.next(); job !== null; job = this.#waiting.next()) {
      if (!this.#waiting.isOverdrawn(job.project)) return job;
      job.resolve(null);
    }
    return null;
  }

  #start(): MarkupWorker {
    const worker = this.#startWorker();
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
    if (this.#running !== null) this.#failures.add(this.#running.key);
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
    const job = this.#running;
    if (job === null) return;
    this.#running = null;
    this.#waiting.charge(job, this.#usedTime());
    job.resolve(html);
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
    if (key.length + html.length <= MAX_CACHED / 4) this.#cache.set(key, html);
  }
}

/** The processor time of this program, in milliseconds. */
function computed(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** @throws Unavailable if no thread can start */
function startMarkupWorker(): MarkupWorker {
  const url = new URL("./markup_worker.ts", import.meta.url);
  return startThread(() => new Worker(url, { type: "module", name: "markup" }));
}
