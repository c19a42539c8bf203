import { bodyUntil } from "../../kernel/body_until.ts";
import type { LedgerEntry } from "../../models/ledger/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { requestOf, type Span, spanOf } from "./spans.ts";

/** Spans that wait, those that are being sent among them. */
const MAX_WAITING = 2048;

/** Most spans of one request. */
const MAX_BATCH = 512;

/** How long spans are gathered. */
const GATHER_MILLISECONDS = 5000;

const FIRST_RETRY_MILLISECONDS = 1000;
const LAST_RETRY_MILLISECONDS = 60_000;

/** The longest wait that a receiver may ask for. */
const LONGEST_WISH_MILLISECONDS = 600_000;

/** Attempts after which a batch is lost. */
const MAX_ATTEMPTS = 10;

const REQUEST_MILLISECONDS = 10_000;

/** How long the end of the program waits for the last spans. */
const CLOSE_MILLISECONDS = 2000;

/** Most bytes read of an answer. */
const MAX_ANSWER_BYTES = 65_536;

/** The answers after which OTLP has a request sent again. */
const RETRYABLE = new Set([429, 502, 503, 504]);

export interface SpanExporterOptions {
  readonly url: URL;
  readonly headers: Headers;
  readonly scheduler: Scheduler;
  /** From 0 to 1: spreads the attempts of many servers; `Math.random` if absent. */
  readonly random?: () => number;
  readonly log: Log;
}

/** What became of spans. */
export interface ExportStats {
  readonly sent: number;
  readonly lost: number;
}

/** How an attempt ended: what was rejected of the batch, or how long to wait; null for no wish. */
type Attempt =
  | { readonly done: true; readonly rejected: number }
  | { readonly done: false; readonly waitMilliseconds: number | null };

/** Exports calls of models as spans, in batches. Nothing ever waits for it. */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #queue: Span[] = [];
  readonly #closing = new AbortController();
  #cancel: (() => void) | null = null;
  #sending: Promise<void> | null = null;
  /** Failed attempts to send the first batch. */
  #attempts = 0;
  /** Failed attempts, of all batches, since the last one that did not fail. */
  #failures = 0;
  #nextMilliseconds = GATHER_MILLISECONDS;
  /** Whether the receiver refused the last batch: only the first refusal is in the log. */
  #isRefused = false;
  #sent = 0;
  #lost = 0;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  stats(): ExportStats {
    return { sent: this.#sent, lost: this.#lost };
  }

  /** Takes a call, to be sent later; it is lost if too many wait. */
  add(entry: LedgerEntry): void {
    if (this.#queue.length >= MAX_WAITING || this.#closing.signal.aborted) {
      this.#lost++;
      return;
    }
    this.#queue.push(spanOf(entry));
    if (this.#queue.length === MAX_BATCH && this.#failures === 0) this.#cancelTimer();
    if (this.#failures > 0) return this.#schedule(this.#nextMilliseconds);
    this.#schedule(this.#queue.length < MAX_BATCH ? GATHER_MILLISECONDS : 0);
  }

  /** Tries once to send what waits, and ends. */
  async close(): Promise<void> {
    this.#cancelTimer();
    const { signal } = this.#closing;
    const limit = setTimeout(() => this.#closing.abort(), CLOSE_MILLISECONDS);
    try {
      await this.#sending;
      while (this.#queue.length > 0 && !signal.aborted) {
        const before = this.#queue.length;
        await this.#send();
        if (this.#queue.length === before) break;
      }
    } finally {
      clearTimeout(limit);
      this.#closing.abort();
      this.#cancelTimer();
      this.#lost += this.#queue.splice(0).length;
    }
  }

  #schedule(milliseconds: number): void {
    if (this.#cancel !== null || this.#sending !== null || this.#closing.signal.aborted) return;
    this.#cancel = this.#options.scheduler.after(milliseconds, () => {
      this.#cancel = null;
      this.#sending = this.#send().finally(() => {
        this.#sending = null;
        if (this.#queue.length > 0) this.#schedule(this.#nextMilliseconds);
      });
    });
  }

  async #send(): Promise<void> {
    const batch = this.#queue.slice(0, MAX_BATCH);
    const attempt = await this.#attempt(batch);
    if (attempt.done) {
      this.#failures = 0;
      this.#settle(batch.length, attempt.rejected);
      this.#nextMilliseconds = this.#queue.length < MAX_BATCH ? GATHER_MILLISECONDS : 0;
      return;
    }
    this.#attempts++;
    this.#failures++;
    if (this.#failures === 1) {
      this.#options.log.warn("Calls of models cannot be exported now", {
        host: this.#options.url.host,
      });
    }
    if (this.#attempts >= MAX_ATTEMPTS) this.#settle(batch.length, batch.length);
    this.#nextMilliseconds = Math.max(attempt.waitMilliseconds ?? 0, this.#backoff());
  }

  /** The time to the next attempt: twice as long each time, of which the second half is random. */
  #backoff(): number {
    const { random = Math.random } = this.#options;
    const most = Math.min(
      FIRST_RETRY_MILLISECONDS * 2 ** (this.#failures - 1),
      LAST_RETRY_MILLISECONDS,
    );
    return most / 2 * (1 + random());
  }

  /** Takes a batch from the queue that was sent, or is lost in part. */
  #settle(count: number, rejected: number): void {
    this.#queue.splice(0, count);
    const lost = Math.min(rejected, count);
    this.#sent += count - lost;
    this.#lost += lost;
    this.#attempts = 0;
  }

  async #attempt(batch: readonly Span[]): Promise<Attempt> {
    const { url, headers, scheduler, log } = this.#options;
    const signal = AbortSignal.any([
      this.#closing.signal,
      AbortSignal.timeout(REQUEST_MILLISECONDS),
    ]);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: new Headers([...headers, ["content-type", "application/json"]]),
        body: requestOf(batch),
        redirect: "manual",
        signal,
      });
      if (response.ok) {
        this.#isRefused = false;
        return { done: true, rejected: await rejectedOf(response, signal) };
      }
      await response.body?.cancel();
      if (RETRYABLE.has(response.status)) {
        return { done: false, waitMilliseconds: waitOf(response, scheduler.now()) };
      }
      if (!this.#isRefused) {
        const { status } = response;
        log.warn("The receiver of exported calls refuses them", { host: url.host, status });
      }
      this.#isRefused = true;
      return { done: true, rejected: batch.length };
    } catch {
      return { done: false, waitMilliseconds: null };
    }
  }

  #cancelTimer(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}

/** The spans that the receiver did not take; none if its answer cannot be read. */
async function rejectedOf({ body }: Response, signal: AbortSignal): Promise<number> {
  try {
    const answer: unknown = JSON.parse(body === null ? "" : await textOf(bodyUntil(body, signal)));
    const { partialSuccess } = answer as { partialSuccess?: { rejectedSpans?: unknown } };
    const rejected = Number(partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}

/** The body of an answer; empty if it is too long. */
async function textOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) return "";
    parts.push(part);
  }
  return await new Blob(parts).text();
}

/**
 * How long the receiver wants to be left alone, in milliseconds (RFC 9110, section 10.2.3); null if
 * it does not say so.
 *
 * @param now Unix milliseconds
 */
function waitOf(response: Response, now: number): number | null {
  const text = response.headers.get("retry-after") ?? "";
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? null : Math.min(Math.max(wait, 0), LONGEST_WISH_MILLISECONDS);
}
