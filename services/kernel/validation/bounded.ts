import { z } from "zod";

/** Longest path of a file, in characters. */
const PATH_LENGTH = 4096;
/** Longest name: of a user, a branch, a check-in, a page. */
const NAME_LENGTH = 200;
/** Longest text that a whole body has room for. */
const CONTENT_LENGTH = 16_777_216;

/** The lengths of fields and arguments whose schema names none, by what they are called. */
const LENGTHS: ReadonlyMap<string, number> = new Map([
  ...["path", "filepath", "file_path", "files_changed", "dir", "goals_source"]
    .map((name) => [name, PATH_LENGTH] as const),
  ...["content", "content_base64", "patch", "diff", "old_text", "new_text"]
    .map((name) => [name, CONTENT_LENGTH] as const),
  ["q", 1000],
  ["after", 1000],
  ["types", 5000],
  ["title", 500],
  ["password", 1024],
  ["text", 65_536],
  ["comment", 65_536],
  ["policy", 65_536],
]);

/** Fields whose length a service judges, because more than that is too large, not malformed. */
const JUDGED_LATER: ReadonlySet<string> = new Set(["text"]);

/** Most entries of a list or a record whose schema names no number. */
const LIST_LENGTH = 1000;

/**
 * The greatest length of a text whose schema names none, in UTF-16 code units.
 *
 * @param field the name of the field, the parameter or the argument that holds it
 */
function lengthOf(field: string): number {
  return LENGTHS.get(field) ?? NAME_LENGTH;
}

/**
 * The same schema, except that every text and every list has a greatest length at every depth: a
 * longer one is refused before anything reads it.
 */
export function bounded<Schema extends z.ZodType>(schema: Schema): Schema {
  return bound(schema, "") as Schema;
}

function bound(schema: z.core.$ZodType, field: string): z.core.$ZodType {
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) {
    if (schema.maxLength !== null || JUDGED_LATER.has(field)) return schema;
    const length = lengthOf(field);
    return schema.max(length, { error: `must have at most ${length} characters` });
  }
  if (schema instanceof z.ZodArray) {
    const list = schema.clone({ ...schema.def, element: bound(schema.def.element, field) });
    return hasLength(schema) ? list : list.max(LIST_LENGTH);
  }
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([name, one]) => [name, bound(one, name)]);
    return schema.clone({ ...schema.def, shape: Object.fromEntries(fields) });
  }
  if (schema instanceof z.ZodUnion) {
    return schema.clone({
      ...schema.def,
      options: schema.def.options.map((one) => bound(one, field)),
    });
  }
  if (schema instanceof z.ZodRecord) {
    const valueType = bound(schema.def.valueType, field);
    // Before its entries are judged, each of which may have a fault.
    return z.pipe(ofFewEntries, schema.clone({ ...schema.def, valueType }));
  }
  if (schema instanceof z.ZodPipe) {
    return schema.clone({ ...schema.def, in: bound(schema.def.in, field) });
  }
  if (
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly || schema instanceof z.ZodCatch
  ) {
    const innerType = bound(schema.def.innerType, field);
    return z.core.clone(schema, { ...schema.def, innerType } as never);
  }
  return schema;
}

const ofFewEntries = z.unknown().refine(
  (value) =>
    typeof value !== "object" || value === null || Object.keys(value).length <= LIST_LENGTH,
  { error: `must have at most ${LIST_LENGTH} entries` },
);

function hasLength({ def }: z.ZodArray): boolean {
  return (def.checks ?? []).some(({ _zod }) =>
    _zod.def.check === "max_length" || _zod.def.check === "length_equals"
  );
}

/** What this reads and writes of a JSON schema. */
interface JsonSchema {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly format?: unknown;
  readonly properties?: unknown;
  readonly items?: unknown;
  readonly additionalProperties?: unknown;
  readonly anyOf?: unknown;
  readonly oneOf?: unknown;
  readonly allOf?: unknown;
  readonly $ref?: unknown;
  readonly propertyNames?: unknown;
  maxLength?: unknown;
  maxItems?: unknown;
  maxProperties?: unknown;
}

/** Formats of texts whose length the format bounds, and of bodies. */
const BOUNDED_FORMATS: ReadonlySet<unknown> = new Set(["binary", "date-time", "uuid"]);

/**
 * Writes the lengths that {@link bounded} enforces into a JSON schema.
 *
 * @param resolve returns the schema that a reference means
 */
export function showLengths(
  schema: object,
  resolve: (reference: string) => object | undefined = () => undefined,
  field = "",
): void {
  const seen = new Set<object>();
  const show = (one: unknown, name: string): void => {
    if (typeof one !== "object" || one === null || seen.has(one)) return;
    seen.add(one);
    const part: JsonSchema = one;
    if (typeof part.$ref === "string") return show(resolve(part.$ref), name);
    const types = [part.type].flat();
    const isFree = part.enum === undefined && part.const === undefined &&
      !BOUNDED_FORMATS.has(part.format);
    if (types.includes("string") && isFree) part.maxLength ??= lengthOf(name);
    if (types.includes("array")) part.maxItems ??= LIST_LENGTH;
    if (part.propertyNames !== undefined) part.maxProperties ??= LIST_LENGTH;
    show(part.items, name);
    show(part.additionalProperties, name);
    for (const [key, value] of Object.entries(part.properties ?? {})) show(value, key);
    for (const options of [part.anyOf, part.oneOf, part.allOf]) {
      if (Array.isArray(options)) options.forEach((option) => show(option, name));
    }
  };
  show(schema, field);
}
