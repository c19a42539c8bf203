/**
 * The ways in which a request can fail. Services throw these; `routes/` and `mcp/` each turn them
 * into their protocol's answer in one place. Any other thrown value is a bug.
 *
 * The message is a whole sentence for the caller and never holds a secret.
 */
export abstract class ServiceError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The request itself is wrong: a missing field, a bad name, a value out of range. */
export class Invalid extends ServiceError {}

/** The caller presented no credential, or one that is unknown, expired or revoked. */
export class Unauthorized extends ServiceError {}

/** The caller is known and may not do this. */
export class Forbidden extends ServiceError {}

/** The caller is an agent that is halted: it may read, and change nothing until it is resumed. */
export class Halted extends ServiceError {}

/** What the request names does not exist, or the caller may not know that it does. */
export class NotFound extends ServiceError {}

/** It does not exist, because the configuration switches off the part that has it. */
export class SwitchedOff extends NotFound {}

/** The request contradicts the present state: a name is taken, a record is revoked. */
export class Conflict extends ServiceError {
  /** What the answer of the repository API tells beside the sentence, such as who holds a claim. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.details = details;
  }
}

/** The request is well formed and larger than the limit. */
export class TooLarge extends ServiceError {}

/** A project or an account has stored as much as it may. */
export class InsufficientStorage extends ServiceError {}

/** The caller, or everybody together, has reached a limit on count or rate. */
export class TooMany extends ServiceError {
  /** Seconds after which another attempt may succeed, if known. */
  readonly retryAfterSeconds: number | undefined;
  /** What the answer of the repository API tells beside the sentence, such as the caller's claims. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    retryAfterSeconds?: number,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
    this.details = details;
  }
}

/** A budget of the caller is used up: to try again soon is of no use. */
export class BudgetUsed extends TooMany {}

/** The client did not send its request in time. */
export class TooSlow extends ServiceError {}

/** A part that the request needs is away for now: IRC is down, the disk is full. */
export class Unavailable extends ServiceError {
  /** Seconds after which another attempt may succeed, if known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message, options);
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** A part that the request needs did not answer in time. */
export class TimedOut extends ServiceError {}

/** A service outside of muster that the request needs failed or answered nonsense. */
export class UpstreamFailed extends ServiceError {}

/** A service outside of muster refused the request through the caller's own fault. */
export class UpstreamRefused extends ServiceError {
  /** The status of HTTP that it answered. */
  readonly status: RefusalStatus;
  readonly details: RefusalDetails;

  constructor(message: string, status: RefusalStatus, details: RefusalDetails) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/** A service outside of muster answered with an error, which its own client gets as it is. */
export class UpstreamAnswered extends ServiceError {
  readonly answer: UpstreamError;

  constructor(message: string, answer: UpstreamError) {
    super(message);
    this.answer = answer;
  }
}

/** An error as a service outside of muster answered it, without secrets. */
export interface UpstreamError {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The statuses by which a service says that the caller is at fault. */
export const REFUSAL_STATUSES = [400, 404, 413, 422, 429] as const;
export type RefusalStatus = (typeof REFUSAL_STATUSES)[number];

/** Further parts of a refusal; null if absent. */
export interface RefusalDetails {
  /** The header `Retry-After`: seconds, or a date of HTTP. */
  readonly retryAfter: string | null;
  readonly type: string | null;
  readonly code: string | null;
}

/** OpenAI's words for a budget, or an account at a provider, that is used up. */
export const QUOTA_USED = { type: "insufficient_quota", code: "insufficient_quota" } as const;
