/**
 * Throws values that cannot be shown, in every way in which nothing catches them, and says at the end
 * that it is still there. `last_resort_test.ts` runs it.
 */
import { UncaughtErrors } from "../../cli/last_resort.ts";
import { Logging } from "../../cli/logging.ts";
import { systemScheduler } from "../../services/kernel/scheduler.ts";

function refuse(): never {
  throw new Error("This cannot be shown");
}

/** An error with getters that throw. */
function withGetters(...names: readonly string[]): Error {
  const getters = Object.fromEntries(names.map((name) => [name, { get: refuse }]));
  return Object.defineProperties(new Error("plain"), getters);
}

const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

const VALUES: readonly unknown[] = [
  { toJSON: refuse, toString: refuse },
  withGetters("message"),
  withGetters("stack", "name", "message", "cause"),
  Object.assign(() => {}, { toJSON: refuse, toString: refuse }),
  Symbol("a symbol"),
  undefined,
  10n,
];

/** Values that the runtime itself reads if they are thrown; they end the program before anybody sees them. */
const REJECTED: readonly unknown[] = [
  new Proxy({}, { get: refuse, ownKeys: refuse, getPrototypeOf: refuse }),
  revoked,
];

// What is thrown while a module is evaluated ends the program in any case.
for (const format of ["json", "text"] as const) {
  new UncaughtErrors(new Logging({ level: "info", format, requests: "auto" }), systemScheduler)
    .listen();
}
for (const value of [...VALUES, ...REJECTED]) setTimeout(() => void Promise.reject(value));
for (const value of VALUES) {
  const raise = () => {
    throw value;
  };
  setTimeout(raise);
  setTimeout(() => queueMicrotask(raise));
}
setTimeout(() => {
  // deno-lint-ignore no-console -- the test reads it.
  console.log("still there");
  Deno.exit(0);
}, 100);
