import { join } from "node:path";
import type { Folders } from "../backup/mod.ts";
import { type Finding, findingsOf, quoted } from "./finding.ts";

/** Keys that the first start makes. */
const TRACES = ["token_key", "event_key"];

/**
 * Checks that there is a database, where other files tell that there was one. A start would make an
 * empty one in its place.
 *
 * @returns null if there is a database with content
 */
export function checkPresence({ data }: Folders): Finding | null {
  const found = findingsOf("database");
  const path = join(data, "muster.db");
  const state = stateOf(path);
  if (state === "full") return null;
  if (state === "no file") {
    return found.error(
      `"${path}" is no file`,
      `move it away (mv ${
        quoted(path)
      } elsewhere) and restore a backup: muster restore BACKUP --replace`,
    );
  }
  if (TRACES.some((name) => stateOf(join(data, name)) !== "missing")) {
    return found.error(
      `"${path}" is ${state}, but there are keys of earlier data; a start would begin without any data`,
      "stop muster and restore a backup: muster restore BACKUP --replace",
    );
  }
  return found.note(`There is no data in "${data}" yet`, "start muster");
}

function stateOf(path: string): "missing" | "no file" | "empty" | "full" {
  try {
    const { isFile, size } = Deno.statSync(path);
    if (!isFile) return "no file";
    return size === 0 && !hasLog(path) ? "empty" : "full";
  } catch {
    return isLink(path) ? "no file" : "missing";
  }
}

/** A new database may be in its write-ahead log alone. */
function hasLog(path: string): boolean {
  try {
    return Deno.statSync(`${path}-wal`).size > 0;
  } catch {
    return false;
  }
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false;
  }
}
