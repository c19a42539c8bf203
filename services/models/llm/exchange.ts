import { bodyUntil } from "../../kernel/body_until.ts";
import {
  QUOTA_USED,
  REFUSAL_STATUSES,
  type RefusalDetails,
  ServiceError,
  TimedOut,
  Unavailable,
  UpstreamAnswered,
  UpstreamFailed,
  UpstreamRefused,
} from "../../kernel/errors.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { VERSION } from "../../kernel/version.ts";
import { isObject, parseJson } from "./json.ts";
import type { Redactor } from "./credentials.ts";
import { ToldError } from "./told.ts";

/** Most bytes read of a refusal, and most characters of its reason shown. */
const MAX_REFUSAL_BYTES = 65_536;
const MAX_REASON_LENGTH = 500;

/** Seconds or a date (RFC 9110, 10.2.3). */
const RETRY_AFTER = /^(?:\d{1,9}|[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT)$/;

/** By this status, providers such as OpenRouter and DeepSeek say that the account is used up. */
const PAYMENT_REQUIRED = 402;

/** What a provider says of muster's own key or account, which is no affair of the caller. */
const OF_ACCOUNT: ReadonlySet<number> = new Set([401, PAYMENT_REQUIRED, 403]);

/** Headers of answers that clients of a provider's own API read. */
const OF_CLIENTS =
  /^(?:request-id|retry-after|retry-after-ms|x-should-retry|(?:anthropic|x)-ratelimit-[a-z0-9-]{1,64})$/;

/** How long one exchange with a provider may last, and how large its answer may be. */
export interface ExchangeLimits {
  /** Until the provider starts to answer. */
  readonly firstByteMilliseconds: number;
  /** Between two parts of an answer. */
  readonly idleMilliseconds: number;
  readonly totalMilliseconds: number;
  readonly answerBytes: number;
}

export interface ExchangeOptions {
  /** Name of the backend, for errors. */
  readonly backend: string;
  /** Whether the caller is a client of the provider's API, and gets its errors as they are. */
  readonly passesErrors?: boolean;
  /** The only origins that requests may go to. */
  readonly origins: readonly string[];
  readonly limits: ExchangeLimits;
  readonly redactor: Redactor;
  readonly scheduler: Scheduler;
  /** Aborts when nobody waits for the answer. */
  readonly signal: AbortSignal;
}

/**
 * One exchange with a provider, through whichever library: its {@link fetch} keeps to the backend's
 * address, follows no redirect and holds the limits. The reason of its end is kept in {@link
 * failure}, because libraries wrap errors.
 */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #abort = new AbortController();
  readonly #cancelTotal: () => void;
  #failure: ServiceError | null = null;
  #bytes = 0;
  #answered: Response | null = null;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    const { limits, signal } = options;
    this.#cancelTotal = this.#within(limits.totalMilliseconds, "did not finish in time");
    if (signal.aborted) this.#abort.abort();
    else signal.addEventListener("abort", this.#leave);
  }

  /** Why the exchange failed, as a text for the caller, or null. */
  get failure(): ServiceError | null {
    return this.#failure;
  }

  /** Aborts when the exchange fails, is left or is closed. */
  get ended(): AbortSignal {
    return this.#abort.signal;
  }

  /** Sends a request like `fetch`, within the bounds of the exchange. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, { ...init, redirect: "manual" });
    if (!this.#options.origins.includes(new URL(request.url).origin)) {
      throw this.#fail(new UpstreamFailed(`${this.#subject} sent the request elsewhere`));
    }
    request.headers.set("user-agent", `muster/${VERSION}`);
    const response = await this.#send(request);
    if (!response.ok) throw this.#fail(await this.#refusal(response));
    this.#answered = response;
    const { status, headers } = response;
    return new Response(this.#bounded(response), { status, headers });
  };

  /** The error for the caller: the original reason, rather than its consequence. */
  explain(error: unknown): unknown {
    if (this.#failure !== null) return this.#failure;
    if (this.ended.aborted) return new Unavailable("The call to the model was cancelled");
    if (error instanceof ServiceError) return error;
    if (this.#answered === null) return error;
    if (error instanceof ToldError) return this.#refusalOf(error);
    const reason = quotesAnswer(error) ? "" : reasonOf(error);
    const told = reason === "" ? "" : `: ${this.#tellable(reason)}`;
    return new UpstreamFailed(`${this.#subject} did not answer in the form of its API${told}`);
  }

  /** What the provider says in headers to clients of its own API. */
  get headersForClients(): Record<string, string> {
    return this.#answered === null ? {} : this.#headersFor(this.#answered);
  }

  /** Redacts an answer. */
  readonly redact = (text: string): string => this.#options.redactor.answer(text);

  /** Closes everything that is still open. */
  close(): void {
    this.#cancelTotal();
    this.#options.signal.removeEventListener("abort", this.#leave);
    this.#abort.abort();
  }

  /** Ends the exchange for a reason of muster's own, unless it has ended. */
  abort(reason: ServiceError): void {
    this.#fail(reason);
  }

  /** Ends the exchange, unless it has ended. Returns the first reason. */
  #fail(error: ServiceError): ServiceError {
    if (!this.ended.aborted) this.#failure = error;
    this.#abort.abort();
    return this.#failure ?? error;
  }

  get #subject(): string {
    return `The LLM backend "${this.#options.backend}"`;
  }

  readonly #leave = () => this.#abort.abort();

  async #send(request: Request): Promise<Response> {
    const { firstByteMilliseconds } = this.#options.limits;
    const cancel = this.#within(firstByteMilliseconds, "did not answer in time");
    const signal = AbortSignal.any([request.signal, this.#abort.signal]);
    try {
      return await fetch(request, { signal });
    } catch (error) {
      const reason = unreachable(error instanceof Error ? error.message : "");
      throw this.#fail(new UpstreamFailed(`${this.#subject} cannot be reached${reason}`));
    } finally {
      cancel();
    }
  }

  /** The body of an answer, with time limits for its parts and a bound on its size. */
  #bounded({ body }: Response): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (body === null) return null;
    const { idleMilliseconds, answerBytes } = this.#options.limits;
    const reader = bodyUntil(body, this.#abort.signal).getReader();
    // The reader may stop at the end mark of a stream, while a read is still running.
    let isLeft = false;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: async (controller) => {
        const cancel = this.#within(idleMilliseconds, "stopped in the middle of its answer");
        try {
          const { value, done } = await reader.read();
          if (isLeft) return;
          if (done) return controller.close();
          this.#bytes += value.byteLength;
          if (this.#bytes > answerBytes) {
            throw this.#fail(new UpstreamFailed(`${this.#subject} sent too long an answer`));
          }
          controller.enqueue(value);
        } catch {
          if (isLeft) return;
          throw this.#fail(new UpstreamFailed(`${this.#subject} broke off its answer`));
        } finally {
          cancel();
        }
      },
      cancel: (reason) => {
        isLeft = true;
        return reader.cancel(reason);
      },
    }, { highWaterMark: 0 });
  }

  /** A provider's refusal. */
  async #refusal(response: Response): Promise<ServiceError> {
    const { status } = response;
    if (status >= 300 && status < 400) {
      await response.body?.cancel();
      return new UpstreamFailed(
        `${this.#subject} answered ${status}, a redirect, which is not followed`,
      );
    }
    const answer = parseJson(await this.#readRefusal(response));
    return this.#passed(answer, response) ?? this.#refused(answer, status, response.headers);
  }

  /** The error as it is, if it is one for the caller. */
  #passed(answer: unknown, response: Response): UpstreamAnswered | null {
    const { status } = response;
    if (!this.#options.passesErrors || OF_ACCOUNT.has(status) || !isObject(answer)) return null;
    const body = this.#options.redactor.error(JSON.stringify(answer));
    if (!isObject(parseJson(body))) return null;
    const message = `${this.#subject} answered ${status}`;
    return new UpstreamAnswered(message, { status, body, headers: this.#headersFor(response) });
  }

  #headersFor({ headers }: Response): Record<string, string> {
    const told = [...headers].filter(([name]) => OF_CLIENTS.test(name));
    return Object.fromEntries(told.map(([name, value]) => [name, this.redact(value)]));
  }

  /** The refusal in an answer whose status says that all is well. */
  #refusalOf({ told, status }: ToldError): UpstreamFailed | UpstreamRefused {
    return this.#refused({ error: told }, status, null);
  }

  #refused(answer: unknown, status: number | null, headers: Headers | null) {
    const reason = reasonOf(answer);
    const because = reason === "" ? "" : `: ${this.#tellable(reason)}`;
    const message = `${this.#subject} answered ${status ?? "with an error"}${because}`;
    const details = this.#details(answer, headers);
    const words = [details.type, details.code];
    // To try again soon is of no use, whatever `Retry-After` says.
    if (status === PAYMENT_REQUIRED || words.includes(QUOTA_USED.code)) {
      return new UpstreamRefused(message, 429, { ...QUOTA_USED, retryAfter: null });
    }
    const refused = REFUSAL_STATUSES.find((candidate) => candidate === status);
    if (refused === undefined) return new UpstreamFailed(message);
    return new UpstreamRefused(message, refused, details);
  }

  #details(answer: unknown, headers: Headers | null): RefusalDetails {
    const { error } = isObject(answer) ? answer : {};
    const word = (name: string) => {
      const value = isObject(error) ? error[name] : undefined;
      return typeof value === "string" ? this.#tellable(value) : null;
    };
    const retryAfter = headers?.get("retry-after") ?? null;
    return {
      retryAfter: retryAfter !== null && RETRY_AFTER.test(retryAfter) ? retryAfter : null,
      type: word("type"),
      code: word("code"),
    };
  }

  /** The text of a refusal, up to the bounds. */
  async #readRefusal(response: Response): Promise<string> {
    const decoder = new TextDecoder();
    let [text, bytes] = ["", 0];
    try {
      for await (const chunk of this.#bounded(response) ?? []) {
        text += decoder.decode(chunk, { stream: true });
        bytes += chunk.byteLength;
        if (bytes > MAX_REFUSAL_BYTES) return "";
      }
    } catch {
      return "";
    }
    return text;
  }

  #tellable(reason: string): string {
    const line = this.#options.redactor.error(reason).replace(/[\p{Cc}\s]+/gu, " ").trim();
    return line.length <= MAX_REASON_LENGTH ? line : `${line.slice(0, MAX_REASON_LENGTH)}…`;
  }

  #within(milliseconds: number, complaint: string): () => void {
    return this.#options.scheduler.after(milliseconds, () => {
      this.#fail(new TimedOut(`${this.#subject} ${complaint}`));
    });
  }
}

/** Whether the message of an error may contain parts of the answer, as those of parsers do. */
function quotesAnswer(error: unknown): boolean {
  return error instanceof Error && !["Error", "AI_APICallError"].includes(error.name);
}

/**
 * The sentence about a provider's error: its `message`, its `error`, or the message of that. No
 * other part of an answer is ever shown.
 */
function reasonOf(value: unknown): string {
  if (Array.isArray(value)) return reasonOf(value[0]);
  if (typeof value !== "object" || value === null) return "";
  const { error, message } = value as { error?: unknown; message?: unknown };
  if (typeof message === "string") return message;
  return typeof error === "string" ? error : reasonOf(error);
}

function unreachable(message: string): string {
  if (/refused/i.test(message)) return ": it refused the connection";
  if (/dns|lookup/i.test(message)) return ": its name is not known";
  if (/certificate/i.test(message)) return ": its certificate is not valid";
  return "";
}
