import type { z } from "zod";

/** A field that a schema refused, and why. */
export interface Fault {
  readonly path: readonly PropertyKey[];
  /** Follows the name of the field: "must be a whole number". */
  readonly message: string;
  /** Whether the field is absent. */
  readonly missing: boolean;
}

type Issue = z.core.$ZodIssue;

/** How the library's own messages begin. Every other message comes from one of our schemas. */
const LIBRARY_MESSAGE = /^(?:Invalid|Too (?:big|small)|Unrecognized|Expected)\b/;

/** The library's name of a type, and the common one. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: "an array",
  bigint: "a whole number",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string",
};

const UNITS: Readonly<Record<string, string>> = { string: "character", array: "entry" };

/**
 * A sentence on what is wrong with a request and with which of its fields.
 *
 * @param issue the first issue that the schema reports
 */
export function describeIssue(issue: Issue): string {
  const { path, message, missing } = faultOf(issue);
  const field = fieldName(path);
  if (message.startsWith(`${field} `)) return message;
  if (field !== "") return missing ? `"${field}" is required` : `"${field}" ${message}`;
  if (issue.code === "invalid_type") return `The body must be a JSON ${issue.expected}`;
  return LIBRARY_MESSAGE.test(issue.message) ? `The body ${message}` : message;
}

/** How much of the name of an unknown field a text repeats, in characters. */
const SHOWN_KEY = 100;

/** A field as texts name it: `goals[0].title`. */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === "number") return `${name}[${key}]`;
    return name === "" ? shownKey(key) : `${name}.${shownKey(key)}`;
  }, "");
}

function shownKey(key: PropertyKey): string {
  const text = String(key);
  return text.length > SHOWN_KEY ? `${text.slice(0, SHOWN_KEY).toWellFormed()}…` : text;
}

/** The field of an issue, and what is wrong with it, in muster's words. */
export function faultOf(issue: Issue): Fault {
  const nested = nestedIssue(issue);
  if (nested !== null) {
    const { path, message, missing } = faultOf(nested);
    return { path: [...issue.path, ...path], message, missing };
  }
  const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  if (issue.code === "unrecognized_keys") {
    const path = [...issue.path, issue.keys[0] ?? ""];
    const message = LIBRARY_MESSAGE.test(issue.message)
      ? "is not a field that this takes"
      : issue.message;
    return { path, message, missing };
  }
  const message = LIBRARY_MESSAGE.test(issue.message) ? wording(issue) : issue.message;
  return { path: issue.path, message, missing };
}

/** The more specific issue inside another. */
function nestedIssue(issue: Issue): Issue | null {
  if (!LIBRARY_MESSAGE.test(issue.message)) return null;
  if (issue.code === "invalid_key" || issue.code === "invalid_element") {
    return issue.issues[0] ?? null;
  }
  if (issue.code !== "invalid_union") return null;
  // The intended branch is the one that fails deepest inside the value.
  const [deepest] = issue.errors.flatMap(([first]) => first === undefined ? [] : [first])
    .sort((a, b) => b.path.length - a.path.length);
  return deepest === undefined || deepest.path.length === 0 ? null : deepest;
}

function wording(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeName(issue.expected)}`;
    case "too_small":
      return bound("at least", "more than", issue.minimum, issue);
    case "too_big":
      return bound("at most", "less than", issue.maximum, issue);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_value":
      return `must be ${choice(issue.values.map((value) => JSON.stringify(value)))}`;
    case "invalid_union":
      return `must be ${choice(unionNames(issue))}`;
    default:
      return "is not valid";
  }
}

function typeName(expected: string): string {
  return TYPE_NAMES[expected] ?? `of the type ${expected}`;
}

function unionNames(issue: Extract<Issue, { code: "invalid_union" }>): string[] {
  const names = issue.errors.flatMap(([first]) =>
    first?.code === "invalid_type" ? [typeName(first.expected)] : []
  );
  return names.length === 0 ? ["of another form"] : [...new Set(names)];
}

function bound(
  inclusive: string,
  exclusive: string,
  limit: number | bigint,
  issue: Extract<Issue, { code: "too_small" | "too_big" }>,
): string {
  const unit = UNITS[issue.origin];
  const words = `${issue.inclusive === false ? exclusive : inclusive} ${limit}`;
  if (unit === undefined) return `must be ${words}`;
  if (issue.code === "too_small" && Number(limit) === 1) return "must not be empty";
  return `must have ${words} ${Number(limit) === 1 ? unit : plural(unit)}`;
}

function plural(unit: string): string {
  return unit.endsWith("y") ? `${unit.slice(0, -1)}ies` : `${unit}s`;
}

function choice(options: readonly string[]): string {
  return new Intl.ListFormat("en", { type: "disjunction" }).format(options);
}
