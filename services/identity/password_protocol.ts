/** What the main thread asks of a password worker: to make a hash, or to check a password. */
export type PasswordRequest =
  | { readonly kind: "hash"; readonly password: string }
  | { readonly kind: "verify"; readonly password: string; readonly hash: string };

/** What the worker answers: a hash, whether the password is right, or that it could not tell. */
export type PasswordResponse =
  | { readonly kind: "hash"; readonly hash: string }
  | { readonly kind: "verify"; readonly matches: boolean }
  | { readonly kind: "failed"; readonly message: string };

/** Memory in KiB, passes and lanes: the second choice of RFC 9106 as OWASP scales it down. */
export const ARGON2_COST = { memorySize: 19_456, iterations: 2, parallelism: 1 } as const;
