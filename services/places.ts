import { TooMany } from "./errors.ts";
import { type Caller, isOverseer, placeOf, roomFor } from "./identity/mod.ts";

/** The part of all places that one caller may take. */
const CALLER_SHARE = 1 / 4;

/** The part of all places that all guests together may take. */
const GUEST_SHARE = 1 / 2;

/** Who takes a place, and from where. */
export type PlaceCaller = Pick<Caller, "principal" | "address">;

/** The words for what takes places, in the plural, and for its state: event streams are open. */
export interface PlaceWords {
  readonly things: string;
  readonly state: string;
  /** After how many seconds to try again, if that is known. */
  readonly retrySeconds?: number;
}

/** How many of so many places one caller may take. */
export function shareOfOne(places: number): number {
  return Math.max(1, Math.floor(places * CALLER_SHARE));
}

/**
 * The places of things that callers hold for a while, such as open event streams. No caller takes
 * more than a quarter of them, and all guests together no more than half. An eighth is reserved for
 * the operator and admins. The operator has no bound but the total.
 */
export class Places {
  readonly #words: PlaceWords;
  readonly #max: number;
  readonly #maxPerCaller: number;
  readonly #maxOfGuests: number;
  #taken = 0;
  #takenByGuests = 0;
  /** The places that the operator and admins have not taken. */
  #takenByOthers = 0;
  /** The places of each caller that has at least one. */
  readonly #takenBy = new Map<string, number>();

  /** @param max the number of places */
  constructor(max: number, words: PlaceWords) {
    this.#words = words;
    this.#max = max;
    this.#maxPerCaller = shareOfOne(max);
    this.#maxOfGuests = Math.max(1, Math.floor(max * GUEST_SHARE));
  }

  /** The number of places that are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** The number of callers with a place, without the operator. */
  get callers(): number {
    return this.#takenBy.size;
  }

  /**
   * Takes a place.
   *
   * @returns gives the place back
   * @throws TooMany
   */
  take(caller: PlaceCaller): () => void {
    const key = holderOf(caller);
    this.#require(key, caller.principal);
    this.#count(key, caller.principal, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#count(key, caller.principal, -1);
      isHeld = false;
    };
  }

  /** Whether a caller has the most that one caller may take. */
  isFullOf(caller: PlaceCaller): boolean {
    return this.#isFullOf(holderOf(caller));
  }

  #isFullOf(key: string | null): boolean {
    return key !== null && (this.#takenBy.get(key) ?? 0) >= this.#maxPerCaller;
  }

  #require(key: string | null, principal: PlaceCaller["principal"]): void {
    const { things, state, retrySeconds } = this.#words;
    const isGuest = principal.kind === "guest";
    if (this.#isFullOf(key)) {
      const whose = isGuest ? "Your address has" : "You have";
      throw new TooMany(
        `${whose} ${this.#maxPerCaller} ${things} ${state}, the most for one caller. ` +
          "Close one first",
        retrySeconds,
      );
    }
    if (isGuest && this.#takenByGuests >= this.#maxOfGuests) {
      throw new TooMany(
        `Guests have ${this.#maxOfGuests} ${things} ${state}, the most for all guests. ` +
          "Log in, or try again later",
        retrySeconds,
      );
    }
    const taken = isOverseer(principal) ? 0 : this.#takenByOthers;
    if (this.#taken >= this.#max || taken >= roomFor(principal, this.#max)) {
      throw new TooMany(
        `Too many ${things} are ${state} on this server; try again later`,
        retrySeconds,
      );
    }
  }

  #count(key: string | null, principal: PlaceCaller["principal"], change: 1 | -1): void {
    this.#taken += change;
    if (principal.kind === "guest") this.#takenByGuests += change;
    if (!isOverseer(principal)) this.#takenByOthers += change;
    if (key === null) return;
    const count = (this.#takenBy.get(key) ?? 0) + change;
    if (count === 0) this.#takenBy.delete(key);
    else this.#takenBy.set(key, count);
  }
}

/**
 * Whose places count together: those of an account, of a project's tokens, or of guests with one
 * address. Null for the operator.
 */
export function holderOf({ principal, address }: PlaceCaller): string | null {
  switch (principal.kind) {
    case "operator":
      return null;
    case "guest":
      return `guest ${placeOf(address ?? "")}`;
    case "project":
      return `project ${principal.project}`;
    default:
      return `account ${principal.id}`;
  }
}
