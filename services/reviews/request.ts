import type { Caller } from "../identity/mod.ts";
import type { Actor } from "../projects/mod.ts";

/** Who makes a request about a review. */
export interface ReviewRequest {
  readonly caller: Caller;
  readonly actor: Actor;
  /** Whether the caller may administer the project. */
  readonly isAdmin: boolean;
  /** The generation of the claim that the request names. */
  readonly generation?: number | undefined;
}
