import { type Key, listKeys } from "./keys.ts";

/** The column of the comments, unless a value is longer. */
const COMMENT_COLUMN = 33;

/** The longest comment that stands behind a value, in characters of its line. */
const LINE = 100;

const HEADER =
  `# Every key of muster with its default. Each key can also be an environment variable: MUSTER_, then
# the key in capitals with _ for each dot (irc.listen is MUSTER_IRC_LISTEN). The environment
# overrides this file, and flags of the command line override both.
`;

/** Writes `config.example.yaml`: every key with its default and its description. */
export function referenceFile(): string {
  return `${HEADER}\n${bodyOf(new Map(), () => true)}`;
}

/**
 * Writes a configuration file that sets some keys. All others stand in it as comments, with their
 * defaults.
 *
 * @param header the first lines, each with its `#`
 * @param values the values by the paths of their keys
 */
export function commentedFile(header: string, values: ReadonlyMap<string, unknown>): string {
  const isSet = (path: string) =>
    [...values.keys()].some((key) => key === path || key.startsWith(`${path}.`));
  return `${header}\n${bodyOf(values, isSet)}`;
}

function bodyOf(values: ReadonlyMap<string, unknown>, isSet: (path: string) => boolean): string {
  const lines: string[] = [];
  let wasTop = true;
  for (const key of listKeys()) {
    const isGroup = key.preset === undefined;
    const isTop = !key.path.includes(".");
    // A blank line before each group, and after the last one.
    if (isTop && lines.length > 0 && (isGroup || !wasTop)) lines.push("");
    wasTop = isTop && !isGroup;
    const value = values.has(key.path) ? values.get(key.path) : key.preset;
    lines.push(...linesOf(key, value).map((line) => isSet(key.path) ? line : `#${line}`));
  }
  return `${lines.join("\n")}\n`;
}

/** A key with its value and its description, which goes above it if it does not fit behind. */
function linesOf({ path, description, preset }: Key, value: unknown): string[] {
  const parts = path.split(".");
  const indent = "  ".repeat(parts.length - 1);
  const text = preset === undefined ? "" : ` ${textOf(value)}`;
  const start = `${indent}${parts.at(-1)}:${text}`;
  if (description === "") return [start];
  const line = `${start.padEnd(COMMENT_COLUMN - 1)} # ${description}`;
  return line.length <= LINE ? [line] : [`${indent}# ${description}`, start];
}

/** A value in YAML. */
function textOf(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value).replaceAll(",", ", ");
  return isPlain(value) ? value : JSON.stringify(value);
}

/** Whether YAML reads a text without quotes as this text. */
function isPlain(text: string): boolean {
  return /^[A-Za-z./][A-Za-z0-9./_-]*(:\/\/[A-Za-z0-9./_-]+)?$|^\d+\.[\d.]+(:\d+)?$/.test(text) &&
    !/^(true|false|null|yes|no|on|off)$/i.test(text);
}
