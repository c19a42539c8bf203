import { TooMany, type Unavailable } from "../errors.ts";
import { isOverseer, type Principal } from "../identity/mod.ts";
import { CallerQuota, type Holder } from "../caller_quota.ts";
import { away, RETRY_SECONDS } from "./away.ts";

/**
 * The part of all requests that takes no place of a caller: to find out whose request it is costs
 * more than to send it, and as long as there are few, nobody is in anybody's way.
 */
const FREE_PART = 1 / 16;

/** A request that is under way. */
export interface Entry {
  /** Call this at its end; the second time, it does nothing. */
  readonly leave: () => void;
}

/** A request whose body a client may hold back. */
export interface Upload extends Entry {
  readonly principal: Principal;
  /** Aborts if another request takes its place. */
  readonly signal: AbortSignal;
  /** Ends it, and gives its place to another request. */
  end(error: Unavailable): void;
}

/** What this node asks of another one. */
export class Peer {
  /** How many more requests may be under way without a place. */
  #free: number;
  readonly #quota: CallerQuota;
  /** Those with a place whose answer has not come; the oldest first. */
  readonly #uploads = new Set<Upload>();
  readonly #gone = new AbortController();

  /** @param maxUnderWay most requests that are under way */
  constructor(maxUnderWay: number) {
    this.#free = Math.floor(maxUnderWay * FREE_PART);
    this.#quota = new CallerQuota(maxUnderWay - this.#free, {
      things: "requests",
      state: "under way to another node",
      retrySeconds: RETRY_SECONDS,
    });
  }

  /** Aborts when the node no longer runs. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /**
   * Lets a request in one piece begin, in a place of its caller if many are under way.
   *
   * @throws TooMany
   */
  enter(caller: () => Holder): Entry {
    if (this.#free === 0) return this.enterPlace(caller());
    this.#free--;
    let isHeld = true;
    return {
      leave: () => {
        if (isHeld) this.#free++;
        isHeld = false;
      },
    };
  }

  /**
   * Lets a request begin in a place of its caller. If there is none, the oldest one whose body a
   * client may hold back makes room.
   *
   * @throws TooMany
   */
  enterPlace(caller: Holder): Entry {
    try {
      return leaving(this.#quota.take(caller));
    } catch (error) {
      if (!(error instanceof TooMany) || this.#quota.isFullOf(caller)) throw error;
      const isGuest = caller.principal.kind === "guest";
      const oldest = this.#uploads.values().find(({ principal }) =>
        isGuest ? principal.kind === "guest" : !isOverseer(principal)
      );
      if (oldest === undefined) throw error;
      this.#uploads.delete(oldest);
      oldest.end(away("The node that can answer this has too much to answer"));
      return leaving(this.#quota.take(caller));
    }
  }

  /**
   * Lets a request begin whose body a client may hold back. Call {@linkcode answered} when its answer
   * begins, or will not come.
   *
   * @throws TooMany
   */
  enterUpload(caller: Holder): Upload {
    const { leave } = this.enterPlace(caller);
    const abort = new AbortController();
    const upload: Upload = {
      principal: caller.principal,
      signal: abort.signal,
      leave,
      end(error) {
        leave();
        abort.abort(error);
      },
    };
    this.#uploads.add(upload);
    return upload;
  }

  /** A client no longer holds up a request. */
  answered(upload: Upload): void {
    this.#uploads.delete(upload);
  }

  /** Ends all requests. */
  close(): void {
    this.#gone.abort();
  }
}

function leaving(held: Disposable): Entry {
  return { leave: () => held[Symbol.dispose]() };
}
