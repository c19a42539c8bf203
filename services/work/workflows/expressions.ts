/** Expressions of workflows, `${{ … }}`, evaluated in bounds. */
import { data, Evaluator, Lexer, Parser, wellKnownFunctions } from "@actions/expressions";

/** What an expression yields, and what it may read. */
export type Value =
  | null
  | boolean
  | number
  | string
  | readonly Value[]
  | { readonly [name: string]: Value };

/** What the expressions of one place may read, by name: `github`, `needs`. */
export type Contexts = Readonly<Record<string, Value>>;

/** Functions without parameters, which the condition of a job may call: `success`. */
export type StatusFunctions = Readonly<Record<string, () => boolean>>;

/** An expression that cannot be evaluated; the message is a phrase about it. */
export class ExpressionFault extends Error {}

/** Longest text that an expression yields, in characters. */
const MAX_RESULT = 65_536;
/** Most values that expressions read, or that one of them makes. */
const MAX_VALUES = 10_000;

const OPENING = "${{";
const CLOSING = "}}";

type Data = ReturnType<Evaluator["evaluate"]>;
type FunctionDefinition = (typeof wellKnownFunctions)[string];

/** Evaluates the expressions of one place of a workflow. */
export class Expressions {
  readonly #contexts: data.Dictionary;
  readonly #names: string[];
  readonly #functions: ReadonlyMap<string, FunctionDefinition>;

  /** @throws {ExpressionFault} there is too much to read */
  constructor(contexts: Contexts, status: StatusFunctions = {}) {
    const budget = { left: MAX_VALUES };
    this.#names = Object.keys(contexts);
    this.#contexts = dictionaryOf(contexts, budget);
    this.#functions = new Map(Object.entries({ ...boundedFunctions(), ...definitionsOf(status) }));
  }

  /**
   * Evaluates an expression, without its braces.
   *
   * @throws {ExpressionFault} it is malformed, reads what is not there, or yields too much
   */
  evaluate(expression: string): Value {
    if (expression.trim() === "") throw new ExpressionFault("An expression is empty");
    const functions = new Map(this.#functions);
    try {
      const { tokens } = new Lexer(expression).lex();
      const tree = new Parser(tokens, this.#names, [...functions.values()]).parse();
      return valueOf(new Evaluator(tree, this.#contexts, functions).evaluate());
    } catch (error) {
      if (error instanceof ExpressionFault) throw error;
      const words = error instanceof Error ? error.message : String(error);
      const shown = expression.trim().slice(0, 100);
      throw new ExpressionFault(`\${{ ${shown} }}: ${words.slice(0, 300)}`);
    }
  }

  /**
   * A text with its expressions replaced by what they yield.
   *
   * @throws {ExpressionFault}
   */
  interpolate(text: string): string {
    const parts = partsOf(text).map(({ text, isExpression }) =>
      isExpression ? wordsOf(this.evaluate(text)) : text
    );
    return requireBounded(parts.join(""));
  }

  /**
   * A value with all its expressions evaluated: a text that is one expression becomes what it yields,
   * of any type.
   *
   * @throws {ExpressionFault}
   */
  resolve(value: Value): Value {
    if (typeof value === "string") {
      const whole = wholeExpression(value);
      return whole === null ? this.interpolate(value) : this.evaluate(whole);
    }
    if (isList(value)) return value.map((item) => this.resolve(item));
    if (value === null || typeof value !== "object") return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([name, item]) => [name, this.resolve(item)]));
  }

  /**
   * Whether a condition holds; its braces can be left out.
   *
   * @throws {ExpressionFault}
   */
  holds(condition: string): boolean {
    const value = this.evaluate(wholeExpression(condition) ?? condition);
    return !(value === null || value === false || value === 0 || value === "" ||
      Number.isNaN(value));
  }
}

/** Whether a condition calls one of the functions that tell how the work before it went. */
export function namesStatus(condition: string): boolean {
  return /\b(?:success|failure|always|cancelled)\s*\(/i.test(condition);
}

/** A value as text, as `format` and texts with expressions have it. */
export function wordsOf(value: Value): string {
  if (value === null) return "";
  if (typeof value !== "object") return String(value);
  return isList(value) ? "Array" : "Object";
}

/** Whether a value is a list. */
export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** The expression that is all of a text, or null. */
function wholeExpression(text: string): string | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith(OPENING)) return null;
  const [first, ...others] = partsOf(trimmed);
  return first?.isExpression === true && others.length === 0 ? first.text : null;
}

interface Part {
  readonly text: string;
  readonly isExpression: boolean;
}

/** A text, cut at the braces of its expressions. */
function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf(OPENING, at);
    if (start < 0) break;
    const end = closingOf(text, start + OPENING.length);
    parts.push({ text: text.slice(at, start), isExpression: false });
    parts.push({ text: text.slice(start + OPENING.length, end), isExpression: true });
    at = end + CLOSING.length;
  }
  parts.push({ text: text.slice(at), isExpression: false });
  return parts.filter(({ text, isExpression }) => isExpression || text !== "");
}

/** Where the braces close an expression: those between quotes are part of a text. */
function closingOf(text: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "'") isQuoted = !isQuoted;
    if (!isQuoted && text.startsWith(CLOSING, at)) return at;
  }
  throw new ExpressionFault(`An expression begins with ${OPENING} and has no ${CLOSING}`);
}

/** The functions of expressions, each with a bound on what it yields. */
function boundedFunctions(): Record<string, FunctionDefinition> {
  const entries = Object.entries(wellKnownFunctions).map(([name, definition]) => [name, {
    ...definition,
    call: (...args: Data[]) => {
      if (name === "format") requireBoundedFormat(args);
      if (name === "join") requireBoundedJoin(args);
      const result = definition.call(...args);
      if (result instanceof data.StringData) requireBounded(result.value);
      if (name === "fromjson") valueOf(result);
      return result;
    },
  }]);
  return Object.fromEntries(entries);
}

/** @throws {ExpressionFault} the text would be too long */
function requireBoundedFormat([pattern, ...args]: readonly Data[]): void {
  const text = pattern?.coerceString() ?? "";
  let length = text.length;
  for (const [, digits] of text.matchAll(/\{(\d{1,3})\}/g)) {
    length += args[Number(digits)]?.coerceString().length ?? 0;
    if (length > MAX_RESULT) throw tooLong();
  }
}

/** @throws {ExpressionFault} the text would be too long */
function requireBoundedJoin([items, separator]: readonly Data[]): void {
  if (!(items instanceof data.Array)) return;
  const between = separator?.coerceString().length ?? 1;
  let length = 0;
  for (const item of items.values()) {
    length += between + item.coerceString().length;
    if (length > MAX_RESULT) throw tooLong();
  }
}

function requireBounded(text: string): string {
  if (text.length > MAX_RESULT) throw tooLong();
  return text;
}

function tooLong(): ExpressionFault {
  return new ExpressionFault(`An expression yields more than ${MAX_RESULT} characters`);
}

function definitionsOf(status: StatusFunctions): Record<string, FunctionDefinition> {
  const entries = Object.entries(status).map(([name, holds]) => [name, {
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(holds()),
  }]);
  return Object.fromEntries(entries);
}

interface Budget {
  left: number;
}

/** @throws {ExpressionFault} nothing is left of the budget */
function spend(budget: Budget): void {
  if (--budget.left >= 0) return;
  throw new ExpressionFault(`Expressions read or make more than ${MAX_VALUES} values`);
}

function dataOf(value: Value, budget: Budget): Data {
  spend(budget);
  if (value === null) return new data.Null();
  if (typeof value === "boolean") return new data.BooleanData(value);
  if (typeof value === "number") return new data.NumberData(value);
  if (typeof value === "string") return new data.StringData(value);
  if (isList(value)) return new data.Array(...value.map((item) => dataOf(item, budget)));
  return dictionaryOf(value, budget);
}

function dictionaryOf(value: Contexts, budget: Budget): data.Dictionary {
  const pairs = Object.entries(value).map(([key, item]) => ({ key, value: dataOf(item, budget) }));
  return new data.Dictionary(...pairs);
}

function valueOf(result: Data, budget: Budget = { left: MAX_VALUES }): Value {
  spend(budget);
  if (result instanceof data.BooleanData || result instanceof data.NumberData) return result.value;
  if (result instanceof data.StringData) return requireBounded(result.value);
  if (result instanceof data.Array) return result.values().map((item) => valueOf(item, budget));
  if (!(result instanceof data.Dictionary)) return null;
  const pairs = result.pairs().map(({ key, value }) => [key, valueOf(value, budget)]);
  return Object.fromEntries(pairs);
}
