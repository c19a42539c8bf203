import { publishPatterns } from "../../services/validation/schemas.ts";

/** A schema, or a part of the document around schemas. */
type Part = Record<string, unknown>;

/**
 * Leaves out of a document what generators of clients cannot write in their languages: patterns of
 * one engine, fields that take no value at all (`"not": {}`), and defaults that are empty objects.
 * The server refuses, or fills in, the same as before.
 *
 * @param document which it changes
 */
export function publish(document: unknown): void {
  publishPatterns(document);
  simplify(document);
}

function simplify(part: unknown): void {
  if (typeof part !== "object" || part === null) return;
  if (Array.isArray(part)) return part.forEach(simplify);
  const schema = part as Part;
  if (isEmpty(schema.default)) delete schema.default;
  if (isPart(schema.properties)) {
    for (const [name, field] of Object.entries(schema.properties)) {
      if (isPart(field) && isEmpty(field.not)) delete schema.properties[name];
    }
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword !== "example" && keyword !== "default") simplify(value);
  }
}

function isEmpty(value: unknown): boolean {
  return isPart(value) && Object.keys(value).length === 0;
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
