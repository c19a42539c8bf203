import { z } from "zod";
import { suggest } from "../suggest.ts";

/**
 * The same schema, except that it refuses unknown fields at every depth and suggests the known
 * field that was probably meant. An object that accepts any field, by `z.looseObject` or a
 * `catchall`, still does.
 */
export function closed<Schema extends z.ZodType>(schema: Schema): Schema {
  return close(schema) as Schema;
}

function close(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodObject) return closeObject(schema);
  if (schema instanceof z.ZodArray) {
    return schema.clone({ ...schema.def, element: close(schema.def.element) });
  }
  if (schema instanceof z.ZodUnion) {
    return schema.clone({ ...schema.def, options: schema.def.options.map(close) });
  }
  if (schema instanceof z.ZodRecord) {
    return schema.clone({ ...schema.def, valueType: close(schema.def.valueType) });
  }
  if (
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) {
    return z.core.clone(schema, { ...schema.def, innerType: close(schema.def.innerType) } as never);
  }
  return schema;
}

function closeObject(schema: z.ZodObject): z.ZodObject {
  const names = Object.keys(schema.shape);
  const shape = Object.fromEntries(
    Object.entries(schema.shape).map(([name, field]) => [name, close(field)]),
  );
  const { catchall = z.never(), error = unknownField(names) } = schema.def;
  return schema.clone({ ...schema.def, shape, catchall, error });
}

/** Words the refusal of a field that is none of these. */
function unknownField(names: readonly string[]): z.core.$ZodErrorMap {
  return ({ code, keys }) => {
    if (code !== "unrecognized_keys" || !Array.isArray(keys)) return undefined;
    return `is not a field that this takes${hintFor(String(keys[0]), names)}`;
  };
}

/**
 * What to write in place of an unknown name, to be put after the sentence that refuses it: the known
 * name that was probably meant, or all of them. "" if there are none.
 */
export function hintFor(unknown: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const meant = suggest(unknown, names);
  if (meant !== null) return `; did you mean "${meant}"?`;
  return `; it takes ${new Intl.ListFormat("en").format(names.map((name) => `"${name}"`))}`;
}
