/** Merging of JSON documents (RFC 7396, JSON Merge Patch). */

import { isDeepStrictEqual } from "node:util";

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * Merges a patch into a document: objects key by key, and `null` removes the key. All other values,
 * including arrays, replace the old ones. A key `__proto__` is ignored.
 *
 * @returns the merged document; the arguments stay unchanged
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (key === "__proto__") continue;
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, value);
  }
  return merged;
}

/**
 * The smallest patch that turns one document into another: `mergePatch(from, diffPatch(from, to))`
 * is `to`, if `to` holds no `null` outside arrays.
 */
export function diffPatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: Record<string, Json> = {};
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(to, key)) patch[key] = null;
  }
  for (const [key, value] of Object.entries(to)) {
    const before = Object.hasOwn(from, key) ? from[key] : undefined;
    if (before === undefined || !isDeepStrictEqual(before, value)) {
      patch[key] = isObject(before) && isObject(value) ? diffPatch(before, value) : value;
    }
  }
  return patch;
}

/** The paths that a patch changes, with keys joined by dots. */
export function pathsOf(patch: JsonObject, prefix = ""): string[] {
  return Object.entries(patch).flatMap(([key, value]) => {
    const path = prefix + key;
    const nested = isObject(value) ? pathsOf(value, `${path}.`) : [];
    return nested.length > 0 ? nested : [path];
  });
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
