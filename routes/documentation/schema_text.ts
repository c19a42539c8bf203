import { html } from "hono/html";

/** A piece of a page. */
export type Html = ReturnType<typeof html>;

/** The parts of a JSON Schema that the page uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Describes the values of a schema briefly; a named schema becomes a link. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return alternatives(choices.map(typeOf));
  if (schema.allOf !== undefined) return joined(schema.allOf.map(typeOf), " and ");
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum !== undefined) {
    return alternatives(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`));
  }
  const types = typeof schema.type === "string" ? [schema.type] : schema.type ?? [];
  return types.length === 0
    ? html`anything`
    : alternatives(types.map((type) => word(type, schema)));
}

/** Further properties of a schema's values: description, default and bounds. */
export function notesOf(schema: Schema): string {
  const bounds = [
    limit("at least", schema.minimum, ""),
    // The largest safe integer bounds every integer, so it is not mentioned.
    limit("at most", schema.maximum === Number.MAX_SAFE_INTEGER ? undefined : schema.maximum, ""),
    limit("at least", schema.minLength, " characters"),
    limit("at most", schema.maxLength, " characters"),
    limit("at least", schema.minItems, " entries"),
    limit("at most", schema.maxItems, " entries"),
  ];
  const fallback = schema.default === undefined
    ? undefined
    : `default: ${JSON.stringify(schema.default)}`;
  const parts = [schema.description, ...bounds, fallback];
  return parts.filter((part) => part !== undefined && part !== "").join("; ");
}

function limit(words: string, bound: number | undefined, unit: string): string | undefined {
  return bound === undefined || !Number.isSafeInteger(bound)
    ? undefined
    : `${words} ${bound}${unit}`;
}

function word(type: string, schema: Schema): Html {
  if (type === "array") return html`array of ${typeOf(schema.items ?? {})}`;
  if (type === "string" && schema.format === "date-time") return html`time (ISO 8601)`;
  return html`${type}`;
}

function alternatives(choices: readonly Html[]): Html {
  return joined(choices, " or ");
}

function joined(parts: readonly Html[], separator: string): Html {
  return html`${parts.flatMap((part, index) => index === 0 ? [part] : [separator, part])}`;
}
