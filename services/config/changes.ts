import type { Config } from "./schemas.ts";

/** The paths of the keys whose values differ, such as `irc.motd`; a list counts as one value. */
export function changedKeys(before: Config, after: Config): string[] {
  const earlier = leaves(before);
  return [...leaves(after)].filter(([key, value]) => earlier.get(key) !== value)
    .map(([key]) => key);
}

/** Each value of a configuration as JSON, by the path of its key. */
function leaves(tree: object, prefix = ""): Map<string, string> {
  return new Map(
    Object.entries(tree).flatMap(([key, value]: [string, unknown]) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? [...leaves(value, `${prefix}${key}.`)]
        : [[`${prefix}${key}`, JSON.stringify(value)]]
    ),
  );
}
