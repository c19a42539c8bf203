/** The severities of a line of the log, the least severe first. */
export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;

/** The severity of a line of the log. */
export type LogLevel = typeof LOG_LEVELS[number];

/** The least severe level that is logged; it can be changed. */
export interface LogThreshold {
  level: LogLevel;
}

/**
 * What a service needs of a logger. Messages are constant texts, what varies stands in the
 * properties, and a secret stands in neither.
 */
export interface Log {
  debug(message: string, properties?: Record<string, unknown>): void;
  info(message: string, properties?: Record<string, unknown>): void;
  warn(message: string, properties?: Record<string, unknown>): void;
  error(message: string, properties?: Record<string, unknown>): void;
  /** Writes a line of the access log, at this level or below, or not at all, as the settings say. */
  request(level: "debug" | "info", properties: Record<string, unknown>): void;
}

function discard(): void {}

/** A logger that keeps nothing. */
export const silentLog: Log = Object.freeze({
  debug: discard,
  info: discard,
  warn: discard,
  error: discard,
  request: discard,
});
