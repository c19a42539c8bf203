import { BoundedMap } from "../../kernel/bounded_map.ts";

/** Most speakers whose violations are known at one time. */
const MAX_SPEAKERS = 10_000;

/** Violations are forgotten after this many cooldowns without another one. */
const REMEMBERED_COOLDOWNS = 3;

/** What is done about violations, from the mildest to the hardest. */
const STEPS = ["warn", "mute", "kick"] as const;
export type Step = (typeof STEPS)[number];

/** The settings of the steps. */
export interface Patience {
  /** Violations from one step to the next. */
  readonly violations: number;
  /** In milliseconds. */
  readonly cooldown: number;
}

interface Account {
  violations: number;
  /** How many steps were taken. */
  steps: number;
  /** Unix milliseconds of the last violation. */
  at: number;
}

/**
 * Decides what a speaker's violations lead to: the first one to a warning; as many more as the
 * patience allows to a mute; as many again to a kick, and every further round to another kick.
 */
export class Escalation {
  readonly #records = new BoundedMap<string, Account>(MAX_SPEAKERS);

  /**
   * Counts violations.
   *
   * @param amount how many; a whole round leads to the next step at once
   * @param now Unix milliseconds
   * @returns the step to take now, or null
   */
  add(speaker: string, amount: number, patience: Patience, now: number): Step | null {
    const { violations, cooldown } = patience;
    const fresh = { violations: 0, steps: 0, at: now };
    const record = this.#records.use(speaker, () => fresh);
    if (now - record.at > cooldown * REMEMBERED_COOLDOWNS) Object.assign(record, fresh);
    record.at = now;
    record.violations += amount;
    if (record.violations <= record.steps * violations) return null;
    const step = STEPS[record.steps] ?? "kick";
    if (step === "kick") record.violations = violations + 1;
    else record.steps += 1;
    return step;
  }

  /** Forgets a speaker's violations, because somebody forgave them. */
  forget(speaker: string): void {
    this.#records.delete(speaker);
  }
}
