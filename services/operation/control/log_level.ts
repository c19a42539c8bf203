import type { Database } from "../../engines/database/mod.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import type { LogLevel, LogThreshold } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

export interface LogLevelsOptions {
  readonly log: LogThreshold;
  readonly database: Database;
  readonly scheduler: Scheduler;
}

/** The level of the log, which can change while the program runs. */
export class LogLevels {
  readonly #options: LogLevelsOptions;

  constructor(options: LogLevelsOptions) {
    this.#options = options;
  }

  /** The least severe level that is logged. */
  read(): LogLevel {
    return this.#options.log.level;
  }

  /**
   * Changes the level, until the configuration is read again or the program ends.
   *
   * @throws Unavailable if the change cannot be logged in the event log; then nothing changes
   */
  async set(level: LogLevel, caller: Caller): Promise<void> {
    const { log, database, scheduler } = this.#options;
    const previous = log.level;
    if (level === previous) return;
    const event = newEvent(
      "program.log_level_changed",
      { level, previous },
      originOf(caller),
      scheduler.now(),
    );
    await database.commit({ events: [event] });
    log.level = level;
  }
}
