import { hasTag, headOf } from "./line_head.ts";

/** Most lines of one list, or of open batches, that the IRC client may have to buffer. */
const MAX_KEPT_LINES = 20_000;

/** Most batches open at once. */
const MAX_BATCHES = 100;

/** The messages that the bridge uses; the IRC client collects many others, some without a bound. */
const COMMANDS = new Set([
  ..."001 002 004 005 331 332 353 366 376 396 421 422".split(" "),
  ..."AUTHENTICATE BATCH CAP ERROR FAIL INVITE JOIN KICK MODE NICK".split(" "),
  ..."NOTICE PART PING PONG PRIVMSG QUIT REDACT TOPIC".split(" "),
]);

/** Refusals of any kind, and results of logins. */
const REFUSAL_OR_LOGIN = /^(?:[45]\d\d|90\d)$/;

/**
 * Keeps unused messages away from the IRC client, and ends a connection that would make it buffer
 * without bound.
 */
export class LineFilter {
  readonly #batches = new Set<string>();
  #kept = 0;

  /**
   * Whether to pass a line to the client.
   *
   * @throws Error if it would have to buffer too much
   */
  admits(line: string): boolean {
    const { tags, command, rest } = headOf(line);
    if (!COMMANDS.has(command) && !REFUSAL_OR_LOGIN.test(command)) return false;
    if (command === "BATCH") this.#countBatch(rest.split(" ")[0] ?? "");
    else if (command === "353" || hasTag(tags, "batch")) this.#kept++;
    if (command === "366" && this.#batches.size === 0) this.#kept = 0;
    if (this.#kept <= MAX_KEPT_LINES && this.#batches.size <= MAX_BATCHES) return true;
    throw new Error("The IRC server sends a list without an end");
  }

  #countBatch(reference: string): void {
    if (reference.startsWith("+")) this.#batches.add(reference.slice(1));
    else this.#batches.delete(reference.slice(1));
    if (this.#batches.size === 0) this.#kept = 0;
  }
}
