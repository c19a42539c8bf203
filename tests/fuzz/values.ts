import fc from "fast-check";
import type { Schema } from "../support/api_document.ts";
import { anyCharacter } from "../support/any_character.ts";

/** Deepest nesting of what is generated. */
const MAX_DEPTH = 4;

/**
 * Names that are used again and again, so that requests meet what other requests made. A value that
 * would have the server wait or call somebody outside is never left to chance.
 */
const POOLS: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ["nick", ["coder", "Coder", "scout", "ann", "bridge", "nobody"]],
  ["account", ["ann", "bob", "coder", "nobody"]],
  ["username", ["admin", "ann", "root", "nobody"]],
  ["owner", ["coder", "scout", "admin", "nobody"]],
  ["channel", ["general", "#general", "dev", "two words", "#", "x".repeat(81)]],
  ["name", ["one", "two", "none"]],
  ["backend", ["one", "two", "none"]],
  ["provider", ["openai", "anthropic", "gemini", "bedrock", "ollama", "groq", "none"]],
  ["base_url", ["", "http://127.0.0.1:9/v1"]],
  ["api_key_env", ["", "FUZZ_KEY"]],
  ["password", ["correct horse", "short", ""]],
  ["text", ["hello", "two\nlines", '{"v":1}', "\u0000", ""]],
  ["checkin", ["trunk", "tip", "prev", "root:trunk", "2026-11-20", "abcd", "nowhere", ""]],
  ["uuid", ["trunk", "tip", "abcd", "0000", "nowhere"]],
  ["archive", ["trunk.zip", "tip.tar.gz", "nowhere.zip", "trunk"]],
  ["path", ["README.md", "src", "src/a.txt", "none", "", "../x"]],
  ["q", ["hello", '"two words" -not', "pre*", "*", ""]],
  ["target", ["Home", "none"]],
  ["workspace", ["one", "two", "none"]],
  ["branch", ["trunk", "workspace/one", "nowhere", ""]],
  ["target_branch", ["trunk", "workspace/two", "nowhere"]],
  ["source", ["trunk", "workspace/one", "nowhere"]],
  ["tag", ["v1", "v2", "none"]],
  ["tag_name", ["v1", "v2", "v3"]],
  ["file", ["a.zip", "b c.txt", "none", "../x"]],
  ["id", [1, 2, 3, 99]],
  ["generation", [1, 2]],
  ["role", ["read", "write", "admin"]],
  ["since", ["2026-11-20T00:00:00.000000Z", "2126-11-20T00:00:00.000000Z", "never"]],
]);

const FIXED: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ["slug", [...Array.from({ length: 12 }, () => "fuzz"), "none", "two words"]],
  ["wait_seconds", [0, 1, -1, 61, "soon"]],
  ["base_url", ["", "http://127.0.0.1:9/v1", "http://127.0.0.1:1", "ftp://example", "none", 7]],
]);

/** Names and ids that the server has, by the field that may hold them. */
export type Known = ReadonlyMap<string, readonly string[]>;

/** Values that a schema takes, by what its field is called. */
export class Values {
  readonly #definitions: Readonly<Record<string, Schema>>;
  readonly #known: Known;

  /**
   * @param definitions the schemas that others refer to by name
   * @param known what the server has
   */
  constructor(definitions: Readonly<Record<string, Schema>>, known: Known) {
    this.#definitions = definitions;
    this.#known = known;
  }

  /** Mostly values that the schema takes, and now and then anything at all. */
  ofField(name: string, schema: Schema): fc.Arbitrary<unknown> {
    const fixed = FIXED.get(name);
    if (fixed !== undefined) return fc.constantFrom(...fixed);
    const pool = [...POOLS.get(name) ?? [], ...this.#known.get(name) ?? []];
    return fc.oneof(
      ...(pool.length === 0 ? [] : [{ weight: 12, arbitrary: fc.constantFrom(...pool) }]),
      { weight: 6, arbitrary: this.of(schema) },
      { weight: 1, arbitrary: fc.jsonValue() },
      { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 200 }) },
    );
  }

  /** Values that the schema takes, as far as it says. */
  of(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
    if (depth > MAX_DEPTH) return fc.constant(null);
    if (schema.$ref !== undefined) {
      return this.of(this.#definitions[schema.$ref.split("/").at(-1) ?? ""] ?? {}, depth + 1);
    }
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return fc.oneof(...choices.map((choice) => this.of(choice, depth)));
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const types = typeof schema.type === "string" ? [schema.type] : schema.type ?? [];
    if (types.length === 0) return fc.jsonValue();
    return fc.oneof(...types.map((type) => this.#ofType(type, schema, depth)));
  }

  #ofType(type: string, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const { minimum: min = -1000, maximum: max = 1000, items = {} } = schema;
    switch (type) {
      case "object":
        return this.#object(schema, depth);
      case "array":
        return fc.array(this.of(items, depth + 1), {
          minLength: schema.minItems ?? 0,
          maxLength: Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? 4, 4)),
        });
      case "integer":
        return fc.integer({ min: Math.max(min, -(2 ** 31)), max: Math.min(max, 2 ** 31 - 1) });
      case "number":
        return fc.double({ min, max, noNaN: true });
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      default:
        return stringsOf(schema);
    }
  }

  #object({ properties = {}, required = [] }: Schema, depth: number): fc.Arbitrary<unknown> {
    const fields = Object.entries(properties).map(([name, field]) =>
      [name, depth === 0 ? this.ofField(name, field) : this.of(field, depth + 1)] as const
    );
    return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
  }
}

function stringsOf({ format, pattern, minLength = 0, maxLength = 40 }: Schema) {
  if (format === "date-time") {
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("2200-01-01") })
      .map((date) => date.toISOString());
  }
  if (pattern !== undefined) {
    try {
      return fc.stringMatching(new RegExp(pattern));
    } catch {
      // The generator knows not every construct; any string will do then.
    }
  }
  return fc.string({ unit: "grapheme", minLength, maxLength: Math.max(minLength, maxLength) });
}
