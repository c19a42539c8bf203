import type { PasswordCosts } from "./password_costs.ts";

/** A request to a password worker: to hash a password, or to check one. */
export type PasswordRequest =
  | { readonly kind: "hash"; readonly password: string; readonly cost: PasswordCosts["argon2"] }
  | { readonly kind: "verify"; readonly password: string; readonly hash: string };

/** The worker's answer: a hash, the result of a check, or a failure. */
export type PasswordResponse =
  | { readonly kind: "hash"; readonly hash: string }
  | { readonly kind: "verify"; readonly matches: boolean }
  | { readonly kind: "failed"; readonly message: string };
