import type { ChainedRow } from "../chain.ts";

/** The internal id of the project that an event is about; null if it is about none. */
export function projectOf({ type, data }: Pick<ChainedRow, "type" | "data">): string | null {
  if (!type.startsWith("project.")) return null;
  const { project_id: id } = JSON.parse(data) as { readonly project_id?: unknown };
  return typeof id === "string" ? id : null;
}
