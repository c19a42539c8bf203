import { z } from "zod";
import { type Config, configSchema } from "../schemas.ts";
import { DESCRIPTIONS } from "./descriptions.ts";

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

/** A configuration key, or a group of keys. */
export interface Key {
  /** Such as `irc.listen`. */
  readonly path: string;
  readonly description: string;
  /** Which values it takes, in words; empty for a group. */
  readonly values: string;
  /** The value if the key is absent; undefined for a group. */
  readonly preset: unknown;
}

/** A JSON Schema, as far as it is used here. */
interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
}

/** A number that stands for "no bound" in a JSON Schema. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** Every group and key, each group before its keys, in the order of the schema. */
export function listKeys(): Key[] {
  const schema = z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" }) as Schema;
  return keysOf(schema, configSchema.parse({}), "");
}

function keysOf({ properties = {} }: Schema, presets: Config | object, prefix: string): Key[] {
  const values = new Map<string, unknown>(Object.entries(presets));
  return Object.entries(properties).flatMap(([name, inner]) => {
    const path = prefix + name;
    const preset = values.get(name);
    const description = DESCRIPTIONS[path] ?? "";
    if (inner.properties === undefined || !isTree(preset)) {
      return [{ path, description, values: valuesOf(inner), preset }];
    }
    const group = { path, description, values: "", preset: undefined };
    return [group, ...keysOf(inner, preset, `${path}.`)];
  });
}

/** Says which values a schema takes. */
function valuesOf(schema: Schema): string {
  if (schema.anyOf !== undefined) {
    return [...new Set(schema.anyOf.map(valuesOf))].join(" or ");
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(", ");
  switch (schema.type) {
    case "array":
      return schema.items?.type === "object" ? "list" : "list of texts";
    case "boolean":
      return "true, false";
    case "integer":
      return rangeOf(schema, "whole number");
    case "number":
      return rangeOf(schema, "number");
    default:
      return "text";
  }
}

function rangeOf({ minimum, exclusiveMinimum, maximum }: Schema, noun: string): string {
  const least = minimum === undefined || minimum <= -UNBOUNDED ? null : minimum;
  const most = maximum === undefined || maximum >= UNBOUNDED ? null : maximum;
  if (exclusiveMinimum !== undefined && exclusiveMinimum > -UNBOUNDED) {
    return `${noun} above ${exclusiveMinimum}${most === null ? "" : `, at most ${most}`}`;
  }
  if (least !== null && most !== null) return `${noun} from ${least} to ${most}`;
  if (least !== null) return `${noun} from ${least}`;
  return most === null ? noun : `${noun}, at most ${most}`;
}

function isTree(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
