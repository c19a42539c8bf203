import type { CallOptions } from "./lane.ts";
import { type OperationName, READ_NAMES, WHOLE_NAMES, WRITE_NAMES } from "./operation_names.ts";
import type { OPERATIONS } from "./operations.ts";

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

/** The same with JSON (UTF-8) results, for operations that return plain data. */
export type JsonOperations = {
  readonly [Name in OperationName]: (
    ...args: Parameters<Operations[Name]>
  ) => Promise<Uint8Array<ArrayBuffer>>;
};

/** How long operations may compute, in milliseconds; null for no limit. */
export type TimeLimits = Readonly<Record<OperationName, number | null>>;

/**
 * Time limits of running operations: reads compute for 10 s, writes for 60 s, and operations on the
 * whole repository as long as they like. An operation ends at its next check, or else with its
 * worker.
 */
export const TIME_LIMITS_MS: TimeLimits = {
  ...limitOfEach(READ_NAMES, 10_000),
  ...limitOfEach(WRITE_NAMES, 60_000),
  ...limitOfEach(WHOLE_NAMES, null),
};

function limitOfEach<Name extends OperationName>(
  names: readonly Name[],
  limitMs: number | null,
): Record<Name, number | null> {
  return Object.fromEntries(names.map((name) => [name, limitMs])) as Record<Name, number | null>;
}
