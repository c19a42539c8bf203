import { parseJson as parse } from "../../kernel/validation/mod.ts";

/** A JSON object. */
export type JsonObject = { [key: string]: unknown };

/** Whether a value is a JSON object, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses a text as JSON; undefined if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses a provider's answer as a JSON object.
 *
 * @throws SyntaxError if it is not one
 */
export function parseObject(text: string): JsonObject {
  const value = parseJson(text);
  if (!isObject(value)) throw new SyntaxError("Cannot read an answer that is no JSON object");
  return value;
}
