/**
 * Patterns that every reader of a published schema compiles, with one meaning: Python (`re`), Go
 * (RE2), Rust (`regex`) and ECMAScript, with and without the flag `u`. One pattern that a model's
 * provider cannot compile makes it refuse the whole list of tools.
 */

/** Most repetitions that counted quantifiers may make together: RE2's bound. */
const MAX_REPETITIONS = 1000;

/** A character of a class, and its code. */
interface ClassCharacter {
  readonly code: number;
  readonly end: number;
}

/**
 * Whether a pattern is in the common subset of the engines: printable ASCII without `.`, `\d`, `\s`,
 * `\w`, `\b`, `\p`, `\u`, lookaround, back references and lazy quantifiers. Classes escape every
 * bracket, and a class that excludes characters repeats by `*` or `+`: without the flag `u` a
 * character beyond U+FFFF counts as two. Takes linear time.
 */
export function isPortable(pattern: string): boolean {
  return /^[ -~]*$/.test(pattern) && new Reader(pattern).reads();
}

/** Reads a pattern by recursive descent. Each method returns whether, or what, it could read. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  reads(): boolean {
    const repetitions = this.#alternatives(0);
    return repetitions !== null && repetitions <= MAX_REPETITIONS &&
      this.#at === this.#text.length;
  }

  /** The repetitions within, at least 1; null if it cannot be read. */
  #alternatives(depth: number): number | null {
    if (depth > 20) return null;
    let most = 1;
    do {
      const repetitions = this.#sequence(depth);
      if (repetitions === null) return null;
      most = Math.max(most, repetitions);
    } while (this.#take("|"));
    return most;
  }

  #sequence(depth: number): number | null {
    const start = this.#at;
    let most = 1;
    while (this.#at < this.#text.length && !"|)".includes(this.#next)) {
      if (this.#take("^") || this.#take("$")) continue;
      const excludes = this.#text.startsWith("[^", this.#at);
      const within = this.#atom(depth);
      if (within === null) return null;
      const counted = this.#quantifier(excludes);
      if (counted === null) return null;
      most = Math.max(most, within * counted);
    }
    return this.#at === start ? null : most;
  }

  #atom(depth: number): number | null {
    if (this.#take("[")) return this.#class() ? 1 : null;
    if (this.#take("(")) {
      if (this.#next === "?" && !this.#take("?:")) return null;
      const within = this.#alternatives(depth + 1);
      return within !== null && this.#take(")") ? within : null;
    }
    const character = this.#character(this.#at, "^$\\.*+?()[]{}|/");
    if (character === null) return null;
    const isEscaped = this.#next === "\\";
    if (!isEscaped && "^$.*+?()[]{}|".includes(this.#next)) return null;
    this.#at = character.end;
    return 1;
  }

  /** How often a quantifier counts; 1 for one that does not, or for none; null if unreadable. */
  #quantifier(excludes: boolean): number | null {
    const counted = /^\{(\d{1,4})(?:,(\d{0,4}))?\}/.exec(this.#text.slice(this.#at, this.#at + 11));
    const isOpen = this.#next === "*" || this.#next === "+";
    if (excludes && !isOpen) return null;
    if (counted !== null) this.#at += counted[0].length;
    else if (isOpen || this.#next === "?") this.#at++;
    else return 1;
    if (this.#next !== "" && "*+?{".includes(this.#next)) return null;
    if (counted === null) return 1;
    const [, least = "", most = ""] = counted;
    if (most !== "" && Number(most) < Number(least)) return null;
    return Math.max(1, Number(least), Number(most));
  }

  /** The rest of a class, behind its bracket. */
  #class(): boolean {
    this.#take("^");
    const start = this.#at;
    while (this.#next !== "]") {
      const isLiteralHyphen = this.#next === "-";
      if (isLiteralHyphen && this.#at > start && this.#text[this.#at + 1] !== "]") return false;
      const first = this.#character(this.#at, "^$\\.*+?()[]{}|/-");
      if (first === null || "[^".includes(this.#next)) return false;
      // Rust reads these doubled as operations on sets.
      if ("&~|-".includes(this.#next) && this.#text[this.#at + 1] === this.#next) return false;
      this.#at = first.end;
      if (isLiteralHyphen || this.#next !== "-" || this.#text[this.#at + 1] === "]") continue;
      const last = this.#character(this.#at + 1, "^$\\.*+?()[]{}|/-");
      if (last === null || "[-".includes(this.#text.charAt(this.#at + 1))) return false;
      if (last.code < first.code) return false;
      this.#at = last.end;
    }
    return this.#at > start && this.#take("]");
  }

  /** A character, or the escape of one, at an index. */
  #character(at: number, escapable: string): ClassCharacter | null {
    const character = this.#text.charAt(at);
    if (character === "") return null;
    if (character !== "\\") return { code: character.charCodeAt(0), end: at + 1 };
    const escaped = this.#text.charAt(at + 1);
    const hex = /^x([0-9A-Fa-f]{2})/.exec(this.#text.slice(at + 1, at + 4));
    if (hex !== null) return { code: parseInt(hex[1] ?? "", 16), end: at + 4 };
    const control = "tnvfr".indexOf(escaped);
    if (escaped === "") return null;
    if (control >= 0) return { code: 9 + control, end: at + 2 };
    if (!escapable.includes(escaped)) return null;
    return { code: escaped.charCodeAt(0), end: at + 2 };
  }

  /** The next character; "" at the end. */
  get #next(): string {
    return this.#text.charAt(this.#at);
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }
}

/** The keywords of a schema whose values are data, not schemas. */
const DATA = new Set(["example", "examples", "default", "enum", "const"]);

/**
 * Leaves in JSON Schemas only patterns that are portable, at most one for each text. A schema that
 * several patterns describe keeps its first portable one. What they no longer say the server checks
 * nevertheless.
 *
 * @param schemas schemas, or a document with schemas, which it changes
 */
export function publishPatterns(schemas: unknown): void {
  if (typeof schemas !== "object" || schemas === null) return;
  if (Array.isArray(schemas)) return schemas.forEach(publishPatterns);
  const schema = schemas as Record<string, unknown>;
  keepOnePattern(schema);
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA.has(keyword)) continue;
    if (keyword !== "properties") publishPatterns(value);
    // Its keys are names of fields, which may be those of keywords.
    else Object.values(value ?? {}).forEach(publishPatterns);
  }
}

function keepOnePattern(schema: Record<string, unknown>): void {
  const { pattern, allOf } = schema;
  const further = Array.isArray(allOf) && allOf.every(isOnlyPattern) ? allOf : [];
  const patterns = [pattern, ...further.map((one) => one.pattern)]
    .filter((one) => typeof one === "string");
  if (further.length > 0) delete schema.allOf;
  if (patterns.length === 0) return;
  const kept = patterns.find(isPortable);
  if (kept === undefined) delete schema.pattern;
  else schema.pattern = kept;
}

function isOnlyPattern(schema: unknown): schema is { readonly pattern: string } {
  return typeof schema === "object" && schema !== null && "pattern" in schema &&
    Object.keys(schema).every((keyword) => keyword === "pattern");
}
