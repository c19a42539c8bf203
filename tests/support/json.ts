/** Reads values out of JSON whose shape the test knows. */
import assert from "node:assert/strict";

/**
 * The value at a path of fields and indexes, such as `checkins.0.uuid`.
 *
 * @throws AssertionError if there is none
 */
export function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const key of path.split(".")) {
    const has = typeof value === "object" && value !== null && key in value;
    assert.ok(has, `There is no ${path} in ${JSON.stringify(json)}`);
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

/** The text at a path. */
export function textAt(json: unknown, path: string): string {
  const value = valueAt(json, path);
  assert.ok(typeof value === "string", `${path} is ${JSON.stringify(value)}`);
  return value;
}

/** The number at a path. */
export function numberAt(json: unknown, path: string): number {
  const value = valueAt(json, path);
  assert.ok(typeof value === "number", `${path} is ${JSON.stringify(value)}`);
  return value;
}

/** The items of the list at a path. */
export function listAt(json: unknown, path: string): readonly unknown[] {
  const value = valueAt(json, path);
  assert.ok(Array.isArray(value), `${path} is ${JSON.stringify(value)}`);
  return value;
}
