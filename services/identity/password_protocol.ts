import type { PasswordCosts } from "./password_costs.ts";

/** A request to a password worker: to hash a password, or to check one. */
export type PasswordRequest =
  | { readonly kind: "hash"; readonly password: string; readonly cost: PasswordCosts["argon2"] }
  | { readonly kind: "verify"; readonly password: string; readonly hash: string };

/** The worker's answer: a hash, or the result of a check. */
export type PasswordAnswer =
  | { readonly kind: "hash"; readonly hash: string }
  | { readonly kind: "verify"; readonly matches: boolean };
