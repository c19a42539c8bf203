/** Arguments as models write them, in the form that the schema of a tool takes. */

import { z } from "zod";
import { entriesIn, MAX_ENTRIES, parseJson } from "../services/kernel/validation/mod.ts";
import { isRecord } from "./json_rpc.ts";
import { argumentName } from "./names.ts";

/** Longest text that may be a number. */
const MAX_NUMBER = 40;

const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** In the metadata of an optional text: an empty one is a value, and not a text left out. */
export const KEEPS_EMPTY = { keepsEmpty: true };

/** Reads a value as models write it. */
export type LenientReader = (value: unknown) => unknown;

/** How many entries texts of JSON may still have: a body has no more, but its texts count as one. */
interface Room {
  entries: number;
}

/** Reads a part of a value. */
type PartReader = (value: unknown, room: Room) => unknown;

/**
 * Makes what leaves out of an object, at every depth that the schema describes, fields that are null,
 * and optional ones that are `""`; gives fields the names that the schema has for them; numbers and
 * booleans may be texts, a ticket may be its number, and arrays and objects the JSON
 * text of one, as long as all such texts have at most 20,000 entries together. All other values stay
 * as they are: the schema refuses what it does not take.
 *
 * @param schema describes the value; what follows from it is found out once
 */
export function lenientReader(schema: z.core.$ZodType): LenientReader {
  const read = partReader(schema);
  return (value) => read(value, { entries: MAX_ENTRIES });
}

function partReader(schema: z.core.$ZodType): PartReader {
  if (
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) return partReader(schema.def.innerType);
  if (schema instanceof z.ZodPipe) return pipeReader(schema);
  if (schema instanceof z.ZodUnion) return choiceReader(schema.def.options);
  if (schema instanceof z.ZodObject) return compositeReader(objectReader(schema));
  if (schema instanceof z.ZodArray) {
    const read = partReader(schema.def.element);
    return compositeReader((value, room) =>
      Array.isArray(value) ? value.map((element) => read(element, room)) : value
    );
  }
  if (schema instanceof z.ZodRecord) {
    const read = partReader(schema.def.valueType);
    return compositeReader((value, room) =>
      isRecord(value) ? mapped(value, (field) => read(field, room)) : value
    );
  }
  if (schema instanceof z.ZodNumber) return textReader(numberIn);
  if (schema instanceof z.ZodBoolean) return textReader(booleanIn);
  if (schema instanceof z.ZodLiteral) return oneOf(new Set(schema.values));
  return schema instanceof z.ZodEnum ? oneOf(new Set(schema.options)) : asItIs;
}

function asItIs(value: unknown): unknown {
  return value;
}

function pipeReader({ def: { in: given, out } }: z.ZodPipe): PartReader {
  const [readGiven, readOut] = [partReader(given), partReader(out)];
  return (value, room) => {
    const read = readGiven(value, room);
    // What comes out of a text is not what a caller writes.
    return typeof read === "string" && !(given instanceof z.ZodTransform)
      ? read
      : readOut(read, room);
  };
}

/**
 * A value that a choice takes as it is stays so. One that no option takes is what one of them reads in
 * it, so that a number out of range is told as a number.
 */
function choiceReader(options: readonly z.core.$ZodType[]): PartReader {
  const readers = options.map((option) => ({ option, reads: partReader(option) }));
  return (value, room) => {
    if (options.some((option) => z.safeParse(option, value).success)) return value;
    const read = readers.map(({ option, reads }) => ({ option, value: reads(value, room) }));
    const taken = read.find(({ option, value }) => z.safeParse(option, value).success);
    return (taken ?? read.find((one) => one.value !== value))?.value ?? value;
  };
}

/** @param read reads a value that is no text */
function compositeReader(read: PartReader): PartReader {
  return (value, room) =>
    read(typeof value === "string" ? compositeIn(value, room) ?? value : value, room);
}

/** @param read reads a text; null if it is none of those that it reads */
function textReader(read: (text: string) => unknown): PartReader {
  return (value) => typeof value === "string" ? read(value) ?? value : value;
}

function oneOf(values: ReadonlySet<unknown>): PartReader {
  return textReader((text) =>
    values.has(text) ? text : [numberIn(text), booleanIn(text)].find((one) => values.has(one))
  );
}

/** A field of an object. */
interface Field {
  readonly schema: z.core.$ZodType;
  readonly read: PartReader;
}

function objectReader({ shape }: z.ZodObject): PartReader {
  // An object may hold others of its kind, so its fields are looked at when there is one.
  let fields: ReadonlyMap<string, Field> | null = null;
  return (value, room) => {
    if (!isRecord(value)) return value;
    fields ??= new Map(
      Object.entries(shape).map((
        [name, schema],
      ) => [name, { schema, read: partReader(schema) }]),
    );
    let isSame = true;
    const entries: [string, unknown][] = [];
    const taken = new Set(Object.keys(value).filter((key) => value[key] !== null));
    const takes = (name: string) => fields?.has(name) === true && !taken.has(name);
    for (const [written, given] of Object.entries(value)) {
      const name = fields.has(written) ? written : argumentName(written, takes);
      const field = fields.get(name);
      const isAbsent = field !== undefined && isLeftOut(given, field.schema);
      const plain = name === "ticket" && Number.isSafeInteger(given) ? String(given) : given;
      const read = field === undefined || isAbsent ? plain : field.read(plain, room);
      if (isAbsent || name !== written || read !== given) isSame = false;
      if (isAbsent) continue;
      entries.push([name, read]);
      taken.add(name);
    }
    return isSame ? value : Object.fromEntries(entries);
  };
}

/** Whether null, or an empty text, stands for a field that is absent. */
function isLeftOut(given: unknown, field: z.core.$ZodType): boolean {
  if (given === null) return !z.safeParse(field, null).success;
  return given === "" && z.safeParse(field, undefined).success &&
    z.globalRegistry.get(field)?.keepsEmpty !== true;
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
