/** Arguments as models write them, in the form that the schema of a tool takes. */

import { z } from "zod";
import { isBounded, parseJson } from "../services/kernel/validation/mod.ts";
import { isRecord } from "./json_rpc.ts";

/** Longest text that may be a number. */
const MAX_NUMBER = 40;

const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** In the metadata of an optional text: an empty one is a value, and not a text left out. */
export const KEEPS_EMPTY = { keepsEmpty: true };

/**
 * Leaves out of an object, at every depth that the schema describes, fields that are null, and
 * optional ones that are `""`; numbers and booleans may be texts, and arrays and objects the JSON text
 * of one. All other values stay as they are: the schema refuses what it does not take.
 *
 * @param schema describes the value
 */
export function lenient(value: unknown, schema: z.core.$ZodType): unknown {
  if (
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) return lenient(value, schema.def.innerType);
  if (schema instanceof z.ZodPipe) {
    const { in: given, out } = schema.def;
    const read = lenient(value, given);
    // What comes out of a text is not what a caller writes.
    return typeof read === "string" && !(given instanceof z.ZodTransform)
      ? read
      : lenient(read, out);
  }
  if (schema instanceof z.ZodUnion) return lenientChoice(value, schema.def.options);
  if (typeof value === "string" && isComposite(schema)) {
    const inner = compositeIn(value);
    return inner === null ? value : lenient(inner, schema);
  }
  if (schema instanceof z.ZodObject && isRecord(value)) return lenientObject(value, schema);
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((element) => lenient(element, schema.def.element));
  }
  if (schema instanceof z.ZodRecord && isRecord(value)) {
    const { valueType } = schema.def;
    return mapped(value, (field) => lenient(field, valueType));
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
function lenientChoice(value: unknown, options: readonly z.core.$ZodType[]): unknown {
  if (options.some((option) => z.safeParse(option, value).success)) return value;
  const read = options.map((option) => ({ option, value: lenient(value, option) }));
  const taken = read.find(({ option, value }) => z.safeParse(option, value).success);
  return (taken ?? read.find((one) => one.value !== value))?.value ?? value;
}

function lenientObject(
  given: Record<string, unknown>,
  { shape }: z.ZodObject,
): Record<string, unknown> {
  const entries = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field === undefined) return [[name, value]];
    if (value === null && !z.safeParse(field, null).success) return [];
    if (value === "" && isLeftOut(field)) return [];
    return [[name, lenient(value, field)]];
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

/** The array or the object whose JSON a text is. */
function compositeIn(text: string): object | null {
  if (!/^\s*[[{]/.test(text) || !isBounded(text)) return null;
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
