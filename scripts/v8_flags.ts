import config from "../deno.json" with { type: "json" };

const FLAGS = /--v8-flags=\S+/.exec(config.tasks.muster.command)?.[0];
if (FLAGS === undefined) throw new Error("The task `muster` in deno.json has no --v8-flags");

/**
 * The option with V8's flags, as in the task `muster`:
 *
 * - `max-semi-space-size` bounds the young generation, which a storm of connections blew up.
 * - `expose-gc` lets a thread that checks passwords free what each one took.
 * - `invocation-count-for-maglev` and `minimum-invocations-after-ic-update` compile a function after
 *   40 calls in place of 400 and 500: a server that handles 20 messages a second otherwise interprets
 *   most of its code for minutes.
 * - `no-short-builtin-calls` keeps V8 from giving each thread its own copy of the built-in functions,
 *   2 MB each.
 * - `heap-growing-percent` lets a heap double until the next full collection. By its own rule V8 marked
 *   the main heap four times a second while large answers passed, and each time delayed chat by 50 ms.
 * - `initial-old-space-size` lets a heap grow to 34 MB before a full collection. After the one at the
 *   start, the next one would otherwise come at 26 MB, in the first half minute of messages.
 */
export const V8_FLAGS: string = FLAGS;
