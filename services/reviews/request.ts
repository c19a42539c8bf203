import type { Caller } from "../identity/mod.ts";
import type { Actor } from "../projects/mod.ts";

/** Who does something to a review. */
export interface ReviewRequest {
  readonly caller: Caller;
  readonly actor: Actor;
  /** Whether the caller may administer the project. */
  readonly isAdmin: boolean;
  /** The generation of the claim that the caller believes in. */
  readonly generation?: number | undefined;
}
