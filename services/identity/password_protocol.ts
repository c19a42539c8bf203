/** A request to a password worker: to hash a password, or to check one. */
export type PasswordRequest =
  | { readonly kind: "hash"; readonly password: string }
  | { readonly kind: "verify"; readonly password: string; readonly hash: string };

/** The worker's answer: a hash, the result of a check, or a failure. */
export type PasswordResponse =
  | { readonly kind: "hash"; readonly hash: string }
  | { readonly kind: "verify"; readonly matches: boolean }
  | { readonly kind: "failed"; readonly message: string };

/** Memory in KiB, passes and lanes: the second choice of RFC 9106, as scaled down by OWASP. */
export const ARGON2_COST = { memorySize: 19_456, iterations: 2, parallelism: 1 } as const;
