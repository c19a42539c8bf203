import type { z } from "zod";
import { BOTS } from "./bots.ts";

/** The kinds of fields: `texts` is a list of texts, `map` an object of texts. */
export type FieldKind = "flag" | "text" | "texts" | "number" | "choice" | "map";

/** A field of a bot's settings, for a form. */
export interface PolicyField {
  readonly name: string;
  readonly kind: FieldKind;
  /** What can be chosen; empty for other kinds. */
  readonly choices: readonly string[];
  /** Whether a number must be whole. */
  readonly isWhole: boolean;
  /** Its value while it is unset; null for none. */
  readonly byDefault: unknown;
}

/** The fields of a bot's settings in their order; null if no schema describes the bot. */
export function policyFields(bot: string): readonly PolicyField[] | null {
  const known = Object.entries(BOTS).find(([name]) => name === bot);
  if (known === undefined) return null;
  return Object.entries(known[1].shape).map(([name, schema]) =>
    fieldOf(name, schema as unknown as z.ZodType)
  );
}

/** What a schema says of itself. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly defaultValue?: unknown;
  readonly format?: string;
  readonly entries?: Readonly<Record<string, string>>;
}

function fieldOf(name: string, schema: z.ZodType): PolicyField {
  const definition = schema.def as unknown as Definition;
  if (definition.innerType !== undefined) {
    const inner = fieldOf(name, definition.innerType);
    return { ...inner, byDefault: definition.defaultValue ?? inner.byDefault };
  }
  return {
    name,
    kind: KINDS[definition.type] ?? "text",
    choices: Object.values(definition.entries ?? {}),
    isWhole: definition.format !== undefined,
    byDefault: null,
  };
}

const KINDS: Readonly<Record<string, FieldKind>> = {
  boolean: "flag",
  string: "text",
  array: "texts",
  number: "number",
  enum: "choice",
  record: "map",
};
