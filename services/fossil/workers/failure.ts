import { errorCodeOf } from "../error.ts";
import type { JobResponse } from "./protocol.ts";
import { Interrupted } from "./watch.ts";

/** The description of an error for the caller. */
export function failureOf(error: unknown): JobResponse {
  if (error instanceof Interrupted) return { kind: "interrupted" };
  const code = errorCodeOf(error);
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  return code === null ? { kind: "broken", message, stack } : { kind: "refused", code, message };
}
