/** How much work it is to check a guess at a password that a person chose. */
export interface PasswordCosts {
  /** Memory in KiB, passes and lanes of argon2id (RFC 9106). */
  readonly argon2: {
    readonly memorySize: number;
    readonly iterations: number;
    readonly parallelism: number;
  };
  /** Rounds of PBKDF2 for SCRAM-SHA-256. */
  readonly scramRounds: number;
}

/**
 * The second choice of RFC 9106, as scaled down by OWASP, and as many rounds of PBKDF2 as make a
 * guess cost the same (OWASP).
 */
export const PASSWORD_COSTS: PasswordCosts = {
  argon2: { memorySize: 19_456, iterations: 2, parallelism: 1 },
  scramRounds: 600_000,
};
