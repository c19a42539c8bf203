import { z } from "zod";
import { type Config, configSchema } from "../schemas.ts";
import { DESCRIPTIONS } from "./descriptions.ts";

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
