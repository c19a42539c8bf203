import { type Ancestry, loadAncestry } from "../graph/mod.ts";
import type { Reader } from "./reader.ts";

/** The ancestry, read once until somebody writes. Needs `read`. */
export function ancestryOf(reader: Reader): Ancestry {
  return reader.cached("ancestry", () => {
    const value = loadAncestry(reader.repository.db);
    return { value, bytes: value.bytes };
  });
}
