/**
 * What went wrong:
 * - `corrupt`: stored or received bytes do not decode, or do not have the hash they claim;
 * - `limit`: a bound of the engine was hit (declared size, chain length, …);
 * - `invalid`: the caller asked for something that cannot be written;
 * - `conflict`: the repository has moved on since the caller looked, or a rule of it forbids the write;
 * - `ambiguous`: a prefix fits several artifacts;
 * - `missing`: the named artifact is unknown, or is a phantom (its name is known, its bytes are not);
 * - `unsupported`: the file is no repository, or one that this engine refuses to open;
 * - `unavailable`: it may work later: too much waits, the disk refuses, or a worker has ended.
 */
export type FossilErrorCode =
  | "corrupt"
  | "limit"
  | "invalid"
  | "conflict"
  | "ambiguous"
  | "missing"
  | "unsupported"
  | "unavailable";

/** The one error class of the engine. Anything else that is thrown is a bug or SQLite's own error. */
export class FossilError extends Error {
  override readonly name = "FossilError";
  readonly code: FossilErrorCode;

  constructor(code: FossilErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
