import { FossilError } from "../error.ts";
import type { Reader } from "./reader.ts";

/** An artifact that a name stands for. */
export interface Resolved {
  readonly rid: number;
  readonly uuid: string;
}

/**
 * The check-in that a name stands for.
 *
 * @throws {FossilError} `missing` where there is none; `ambiguous` where a prefix fits several.
 */
export function resolveCheckin(_reader: Reader, _name?: string): Resolved {
  throw new FossilError("unsupported", "Not built yet");
}

/** As `resolveCheckin`, for an artifact of any kind, files included. */
export function resolveArtifact(_reader: Reader, _name: string): Resolved {
  throw new FossilError("unsupported", "Not built yet");
}
