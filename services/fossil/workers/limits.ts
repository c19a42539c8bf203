import type { CallOptions } from "./lane.ts";
import { type OperationName, type OPERATIONS, READS, WHOLE, WRITES } from "./operations.ts";

/** An operation as the main thread calls it. */
type Call<Operation> = Operation extends (context: never, ...input: infer Input) => infer Result
  ? Input extends readonly [infer Only]
    ? (input: Only, options?: CallOptions) => Promise<Awaited<Result>>
  : (input?: undefined, options?: CallOptions) => Promise<Awaited<Result>>
  : never;

/** Every operation of a worker, asynchronous. */
export type Operations = {
  readonly [Name in OperationName]: Call<(typeof OPERATIONS)[Name]>;
};

/** The same, for JSON (UTF-8) in place of the results: of those that are plain data. */
export type JsonOperations = {
  readonly [Name in OperationName]: (
    ...args: Parameters<Operations[Name]>
  ) => Promise<Uint8Array<ArrayBuffer>>;
};

/** How long operations may take, in milliseconds; null for as long as they need. */
export type TimeLimits = Readonly<Record<OperationName, number | null>>;

/**
 * How long each operation may take once it runs: reads 10 s, writes 60 s, and what goes over the
 * whole as long as it needs. It ends by itself where it looks, and with its worker if it does not.
 */
export const TIME_LIMITS_MS: TimeLimits = {
  ...limitOfEach(READS, 10_000),
  ...limitOfEach(WRITES, 60_000),
  ...limitOfEach(WHOLE, null),
};

function limitOfEach<Name extends OperationName>(
  group: Readonly<Record<Name, unknown>>,
  limitMs: number | null,
): Record<Name, number | null> {
  const names = Object.keys(group) as Name[];
  return Object.fromEntries(names.map((name) => [name, limitMs])) as Record<Name, number | null>;
}
