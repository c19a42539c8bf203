import { TooMany } from "../../kernel/errors.ts";
import { Quota, type Share } from "../../kernel/quota.ts";
import { placeOf } from "./attempts.ts";
import { type Caller, isOverseer, type Principal, quotaFor } from "./principal.ts";

/** The part of all that one caller may hold. */
const CALLER_SHARE = 1 / 4;

/** The part of all that all guests together may hold. */
const GUEST_SHARE = 1 / 2;

/** The keys of what everybody holds, of what guests do, and of all but the operator and admins. */
const ALL = "all";
const GUESTS = "guests";
const OTHERS = "others";

/** Who holds something, and from where. */
export type Holder = Pick<Caller, "principal" | "address">;

/** The words for what callers hold, in the plural, and for its state: event streams are open. */
interface QuotaWords {
  readonly things: string;
  readonly state: string;
  /** After how many seconds to try again, if that is known. */
  readonly retrySeconds?: number;
}

/** How many of so many one caller may hold. */
export function shareOfOne(total: number): number {
  return Math.max(1, Math.floor(total * CALLER_SHARE));
}

/**
 * Bounds what callers hold for a while, such as open event streams. No caller holds more than a
 * quarter of them, and all guests together no more than half. An eighth is reserved for the operator
 * and admins. The operator has no bound but the total.
 */
export class CallerQuota {
  readonly #words: QuotaWords;
  readonly #max: number;
  readonly #maxPerCaller: number;
  readonly #maxOfGuests: number;
  readonly #quota = new Quota();

  /** @param max how many all hold together */
  constructor(max: number, words: QuotaWords) {
    this.#words = words;
    this.#max = max;
    this.#maxPerCaller = shareOfOne(max);
    this.#maxOfGuests = Math.max(1, Math.floor(max * GUEST_SHARE));
  }

  /** How many are held. */
  get held(): number {
    return this.#quota.used(ALL);
  }

  /**
   * Counts one more. Disposing it gives it back.
   *
   * @throws TooMany
   */
  take(holder: Holder): Disposable {
    const shares = this.#sharesOf(holder);
    const full = this.#quota.full(shares);
    if (full !== null) throw this.#refusal(full, holder);
    return this.#quota.take(...shares.map(({ key }) => key));
  }

  /** Whether a caller holds the most that one caller may hold. */
  isFullOf(holder: Holder): boolean {
    const key = holderOf(holder);
    return key !== null && this.#quota.used(key) >= this.#maxPerCaller;
  }

  /** What a caller's count against, the narrowest first. */
  #sharesOf(holder: Holder): Share[] {
    const { principal } = holder;
    const key = holderOf(holder);
    return [
      ...key === null ? [] : [{ key, most: this.#maxPerCaller }],
      ...principal.kind === "guest" ? [{ key: GUESTS, most: this.#maxOfGuests }] : [],
      ...isOverseer(principal) ? [] : [{ key: OTHERS, most: quotaFor(principal, this.#max) }],
      { key: ALL, most: this.#max },
    ];
  }

  #refusal({ key, most }: Share, { principal }: Holder): TooMany {
    const { things, state, retrySeconds } = this.#words;
    const told = () => {
      switch (key) {
        case ALL:
        case OTHERS:
          return `Too many ${things} are ${state} on this server; try again later`;
        case GUESTS:
          return `Guests have ${most} ${things} ${state}, the most for all guests. ` +
            "Log in, or try again later";
        default: {
          const whose = principal.kind === "guest" ? "Your address has" : "You have";
          return `${whose} ${most} ${things} ${state}, the most for one caller. Close one first`;
        }
      }
    };
    return new TooMany(told(), retrySeconds);
  }
}

/**
 * Whose things count together: those of an account, of a project's tokens, or of guests with one
 * address. Null for the operator.
 */
export function holderOf({ principal, address }: Holder): string | null {
  switch (principal.kind) {
    case "operator":
      return null;
    case "guest":
      return `guest ${placeOf(address ?? "")}`;
    case "project":
    case "job":
      return `project ${principal.project}`;
    default:
      return `account ${principal.id}`;
  }
}

/** In milliseconds. */
const HOUR = 60 * 60 * 1000;

/** Callers that are counted at once; beyond, the oldest hour is forgotten. */
const MAX_CALLERS = 10_000;

interface HourlyQuotaOptions {
  /** The most within an hour; 0 for no bound. */
  readonly most: number;
  /** What is counted, such as `pushes`. */
  readonly what: string;
  /** The key of the configuration. */
  readonly setting: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** What callers have used of a quota. */
export interface QuotaFigures {
  /** The key of the configuration. */
  readonly setting: string;
  /** What one may use; 0 for no bound. */
  readonly most: number;
  /** The most that one uses now; null as long as nobody has measured it. */
  readonly highest: number | null;
  /** How often something was refused since the start. */
  readonly refused: number;
}

/** Bounds how often each token, or each account without one, does something within an hour. */
export class HourlyQuota {
  readonly #options: HourlyQuotaOptions;
  /** By the caller. */
  readonly #quota: Quota;
  #refused = 0;

  constructor(options: HourlyQuotaOptions) {
    this.#options = options;
    this.#quota = new Quota({ period: HOUR, maxKeys: MAX_CALLERS, clock: options.clock });
  }

  /** What the metrics and the doctor tell of it. */
  get figures(): QuotaFigures {
    const { most, setting } = this.#options;
    return { setting, most, highest: this.#quota.highest(), refused: this.#refused };
  }

  /**
   * Takes one of a caller's hour, before the work: so requests at the same time count, too.
   *
   * @returns disposing it gives it back, because nothing came of it
   * @throws TooMany
   */
  take(principal: Principal): Disposable {
    const { most, what, setting } = this.#options;
    if (most === 0) return { [Symbol.dispose]: () => {} };
    const key = keyOf(principal);
    if (this.#quota.full([{ key, most }]) !== null) {
      this.#refused++;
      throw new TooMany(
        `"${principal.name}" has made ${this.#quota.used(key)} ${what} within an hour, which is ` +
          `the limit (${setting}); try again later`,
        Math.ceil(this.#quota.wait(key) / 1000),
      );
    }
    return this.#quota.take(key);
  }
}

function keyOf({ kind, id, tokenId }: Principal): string {
  return tokenId ?? id ?? kind;
}
