import type { PasswordCosts } from "../../services/people/identity/mod.ts";

/** Passwords cost as little as they can, where a test is not about their cost. */
export const CHEAP_PASSWORDS: PasswordCosts = {
  argon2: { memorySize: 8, iterations: 1, parallelism: 1 },
  scramRounds: 4096,
};
