import { type ServiceError, Unauthorized, Unavailable } from "../errors.ts";
import type { Identity, Principal } from "../identity/mod.ts";

/** Tells when credentials have ended. */
export interface Credentials extends Pick<Identity, "onEnded"> {
  /** Whether this node knows what others have ended; if not, nobody may speak. */
  readonly isCurrent: () => boolean;
}

/** The right to send the lines of one post, which may end while they wait for their turn. */
export interface Permit {
  /** Why a line may not be sent any more, or null. Ask right before it is sent. */
  refusal(): ServiceError | null;
  /** Call this when its lines are sent, or refused. */
  end(): void;
}

/** The permits of posts whose lines wait for their turn. */
export class ChannelAuthorization {
  readonly #credentials: Credentials | null;
  /** By the permit: whose credential has ended. */
  readonly #held = new Set<{ readonly principal: Principal; hasEnded: boolean }>();
  readonly #unsubscribe: () => void;

  /** @param credentials null if none can end */
  constructor(credentials: Credentials | null) {
    this.#credentials = credentials;
    this.#unsubscribe = credentials?.onEnded((ended) => {
      for (const held of this.#held) held.hasEnded ||= ended.covers(held.principal);
    }) ?? (() => {});
  }

  /**
   * A permit for a post.
   *
   * @param principal whose credential it needs; null for the program's own
   */
  of(principal: Principal | null): Permit {
    const held = principal === null ? null : { principal, hasEnded: false };
    if (held !== null) this.#held.add(held);
    return {
      refusal: () => {
        if (held?.hasEnded) return new Unauthorized("The credential has ended");
        return this.#credentials?.isCurrent() ?? true ? null : outdated();
      },
      end: () => {
        if (held !== null) this.#held.delete(held);
      },
    };
  }

  close(): void {
    this.#unsubscribe();
  }
}

function outdated(): Unavailable {
  return new Unavailable("This node has lost touch with the database; try again", {
    retryAfterSeconds: 2,
  });
}
