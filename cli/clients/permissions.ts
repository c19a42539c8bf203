/** Lists of permissions in a client's settings: which tools it uses without asking its user. */
import { ASKED_TOOLS } from "../../mcp/stdio/mod.ts";
import { isObject, parseJson, setJson, Unreadable, valueAt } from "./config_text.ts";
import { TOOL_NAMES } from "./tool_names.ts";

export { ASKED_TOOLS };

/** All other tools. Clients that know no rule for a whole server get their names. */
export const ALLOWED_TOOLS: readonly string[] = Object.freeze(
  TOOL_NAMES.filter((name) => !ASKED_TOOLS.includes(name)),
);

/** Entries of a list of texts, and where the list is: in an object, or at the root. */
export interface ListEntries {
  readonly path: readonly [string] | readonly [string, string];
  readonly entries: readonly string[];
}

/** Adds entries that the lists do not have yet. */
export function addToLists(lists: readonly ListEntries[]) {
  return (text: string): string =>
    lists.reduce((edited, { path, entries }) => {
      const present = listAt(edited, path);
      const missing = entries.filter((entry) => !present.includes(entry));
      if (present.length === 0) return setJson(edited, path, missing);
      return missing.reduce((all, entry) => setJson(all, [...path, -1], entry), edited);
    }, text);
}

/** Removes entries, and the lists and objects that they leave empty. */
export function removeFromLists(lists: readonly ListEntries[]) {
  return (text: string): string => lists.reduce(removeEntries, text);
}

function removeEntries(text: string, { path, entries }: ListEntries): string {
  let edited = text;
  for (const entry of entries) {
    for (;;) {
      const index = listAt(edited, path).indexOf(entry);
      if (index < 0) break;
      edited = setJson(edited, [...path, index], undefined);
    }
  }
  if (edited === text || listAt(edited, path).length > 0) return edited;
  const [parent, inner] = path;
  const without = setJson(edited, path, undefined);
  if (inner === undefined) return without;
  const rest = valueAt(parseJson(without), [parent]);
  const isEmptied = isObject(rest) && Object.keys(rest).length === 0;
  return isEmptied ? setJson(without, [parent], undefined) : without;
}

function listAt(text: string, path: readonly string[]): readonly unknown[] {
  const list = valueAt(parseJson(text), path) ?? [];
  if (Array.isArray(list)) return list;
  throw new Unreadable(`the type of "${path.join(".")}" is unexpected`);
}
