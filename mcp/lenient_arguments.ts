/** Arguments as models write them, in the form that the schema of a tool takes. */

import { z } from "zod";
import { entriesIn, MAX_ENTRIES, parseJson } from "../services/kernel/validation/mod.ts";
import { isRecord } from "./json_rpc.ts";

/** Longest text that may be a number. */
const MAX_NUMBER = 40;

const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** In the metadata of an optional text: an empty one is a value, and not a text left out. */
export const KEEPS_EMPTY = { keepsEmpty: true };

/** How many entries texts of JSON may still have: a body has no more, but its texts count as one. */
interface Room {
  entries: number;
}

/**
 * Leaves out of an object, at every depth that the schema describes, fields that are null, and
 * optional ones that are `""`; numbers and booleans may be texts, and arrays and objects the JSON text
 * of one, as long as all such texts have at most 20,000 entries together. All other values stay as they
 * are: the schema refuses what it does not take.
 *
 * @param schema describes the value
 */
export function lenient(value: unknown, schema: z.core.$ZodType): unknown {
  return read(value, schema, { entries: MAX_ENTRIES });
}

function read(value: unknown, schema: z.core.$ZodType, room: Room): unknown {
  if (
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) return read(value, schema.def.innerType, room);
  if (schema instanceof z.ZodPipe) {
    const { in: given, out } = schema.def;
    const inner = read(value, given, room);
    // What comes out of a text is not what a caller writes.
    return typeof inner === "string" && !(given instanceof z.ZodTransform)
      ? inner
      : read(inner, out, room);
  }
  if (schema instanceof z.ZodUnion) return choice(value, schema.def.options, room);
  if (typeof value === "string" && isComposite(schema)) {
    const inner = compositeIn(value, room);
    return inner === null ? value : read(inner, schema, room);
  }
  if (schema instanceof z.ZodObject && isRecord(value)) return object(value, schema, room);
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((element) => read(element, schema.def.element, room));
  }
  if (schema instanceof z.ZodRecord && isRecord(value)) {
    const { valueType } = schema.def;
    return mapped(value, (field) => read(field, valueType, room));
  }
  if (typeof value !== "string") return value;
  if (schema instanceof z.ZodNumber) return numberIn(value) ?? value;
  if (schema instanceof z.ZodBoolean) return booleanIn(value) ?? value;
  if (schema instanceof z.ZodLiteral || schema instanceof z.ZodEnum) {
    const meant = [numberIn(value), booleanIn(value)];
    const values: ReadonlySet<unknown> = schema instanceof z.ZodLiteral
      ? new Set(schema.values)
      : new Set(schema.options);
    if (!values.has(value)) return meant.find((one) => values.has(one)) ?? value;
  }
  return value;
}

/**
 * A value that a choice takes as it is stays so. One that no option takes is what one of them reads in
 * it, so that a number out of range is told as a number.
 */
function choice(value: unknown, options: readonly z.core.$ZodType[], room: Room): unknown {
  if (options.some((option) => z.safeParse(option, value).success)) return value;
  const readings = options.map((option) => ({ option, value: read(value, option, room) }));
  const taken = readings.find(({ option, value }) => z.safeParse(option, value).success);
  return (taken ?? readings.find((one) => one.value !== value))?.value ?? value;
}

function object(
  given: Record<string, unknown>,
  { shape }: z.ZodObject,
  room: Room,
): Record<string, unknown> {
  const entries = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field === undefined) return [[name, value]];
    if (value === null && !z.safeParse(field, null).success) return [];
    if (value === "" && isLeftOut(field)) return [];
    return [[name, read(value, field, room)]];
  });
  return Object.fromEntries(entries);
}

/** Whether an empty text stands for a field that is absent. */
function isLeftOut(field: z.core.$ZodType): boolean {
  return z.safeParse(field, undefined).success &&
    z.globalRegistry.get(field)?.keepsEmpty !== true;
}

function isComposite(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodObject || schema instanceof z.ZodArray ||
    schema instanceof z.ZodRecord;
}

/** The array or the object whose JSON a text is; null also if it has too many entries. */
function compositeIn(text: string, room: Room): object | null {
  if (!/^\s*[[{]/.test(text)) return null;
  const entries = entriesIn(text);
  if (entries === null || entries > room.entries) return null;
  room.entries -= entries;
  try {
    const value = parseJson(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function mapped(
  record: Record<string, unknown>,
  change: (value: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

function numberIn(text: string): number | null {
  const trimmed = text.slice(0, MAX_NUMBER + 1).trim();
  if (text.length > MAX_NUMBER || !NUMBER.test(trimmed)) return null;
  const number = Number(trimmed);
  return Number.isFinite(number) ? number : null;
}

function booleanIn(text: string): boolean | null {
  if (text.length > MAX_NUMBER) return null;
  const word = text.trim().toLowerCase();
  return word === "true" ? true : word === "false" ? false : null;
}
