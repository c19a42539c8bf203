/**
 * A plugin of `deno lint`: a regular expression takes time in proportion to its input.
 *
 * One that backtracks takes the square of that or more, and one caller with a long input stops all
 * others. Write a pattern that is anchored and whose parts cannot read the same text, or a loop.
 */
import { relative, resolve, sep } from "node:path";
import { type AST, RegExpParser } from "@eslint-community/regexpp";
import {
  Chars,
  getFirstConsumedChar,
  hasSomeDescendant,
  isPotentiallyEmpty,
  toUnicodeSet,
} from "regexp-ast-analysis";
import { analyse } from "scslre";

type Characters = ReturnType<typeof Chars.all>;

/** Repetitions up to this number cost a factor that does not grow with the input. */
const MAX_REPETITIONS = 300;

/** Repetitions beyond this number count as any number where each of them may read several texts. */
const MAX_CHOICES = 8;

/** Most sequences that the alternatives of a pattern are unfolded to; others are not judged. */
const MAX_SEQUENCES = 500;

/** A part of a pattern without alternatives. */
interface Part {
  readonly kind: "character" | "run" | "count" | "start" | "end" | "assertion";
  /** What it may read in one step; nothing if it is an assertion. */
  readonly characters: Characters;
  readonly optional: boolean;
}

/**
 * Why a regular expression may take more than linear time.
 *
 * @returns null if it does not
 */
export function backtracking(source: string, flagText: string): string | null {
  const parser = new RegExpParser();
  const flags = parser.parseFlags(flagText);
  const { unicode, unicodeSets } = flags;
  const pattern = parser.parsePattern(source, 0, source.length, { unicode, unicodeSets });
  const { reports } = analyse({ pattern, flags }, { reportTypes: { Move: !flags.sticky } });
  const [report] = reports;
  if (report !== undefined) {
    return report.exponential ? "takes exponential time" : "takes more than linear time";
  }
  if (hasSomeDescendant(pattern, (node) => hasOverlap(node, flags))) {
    return "takes exponential time";
  }
  if (hasSomeDescendant(pattern, isLongLookbehind)) return "takes more than linear time";
  const unbounded = withoutBounds(pattern);
  if (unbounded !== source) return backtracking(unbounded, flagText);
  return new Judge(flags).hasSharedText(pattern.alternatives)
    ? "takes more than linear time"
    : null;
}

/**
 * The pattern with any number of repetitions in place of a bounded one, where each repetition chooses
 * anew how long it is: a bound of a hundred is no bound for two to the power of it.
 */
function withoutBounds(pattern: AST.Pattern): string {
  const { raw } = pattern;
  const changed: AST.Quantifier[] = [];
  hasSomeDescendant(pattern, (node) => {
    if (node.type !== "Quantifier" || node.max <= MAX_CHOICES || node.max === Infinity) {
      return false;
    }
    const chooses = hasSomeDescendant(
      node.element,
      (inner) => inner.type === "Quantifier" && inner.min !== inner.max && inner.max > 0,
    );
    if (chooses) changed.push(node);
    return false;
  });
  let [whole, end] = ["", 0];
  for (const { start, element, min, greedy, end: next } of changed.toSorted(byStart)) {
    // One inside of another is left for the next time.
    if (start < end) continue;
    whole += raw.slice(end, element.end) + (min === 0 ? "*" : "+") + (greedy ? "" : "?");
    end = next;
  }
  return whole + raw.slice(end);
}

function byStart(one: AST.Node, other: AST.Node): number {
  return one.start - other.start;
}

/** Whether a node is a lookbehind that may read a long text: it is tried at each character. */
function isLongLookbehind(node: AST.Node): boolean {
  return node.type === "Assertion" && node.kind === "lookbehind" &&
    hasSomeDescendant(node, (inner) => inner.type === "Quantifier" && inner.max > MAX_REPETITIONS);
}

/** Whether a node repeats nothing, or alternatives of which two may begin with the same character. */
function hasOverlap(node: AST.Node, flags: AST.Flags): boolean {
  if (node.type !== "Quantifier" || node.max <= MAX_CHOICES) return false;
  const { element } = node;
  if (node.max < Infinity && isPotentiallyEmpty(element, flags)) return true;
  if (element.type !== "Group" && element.type !== "CapturingGroup") return false;
  const first = element.alternatives.map((one) => getFirstConsumedChar(one, "ltr", flags).char);
  return first.some((one, index) =>
    first.slice(index + 1).some((other) => !one.isDisjointWith(other))
  );
}

/** A part that may read a long text, and what has to stand between it and the present part. */
interface Run {
  readonly characters: Characters;
  readonly then: readonly Characters[];
}

class Judge {
  readonly #flags: AST.Flags;
  readonly #none: Characters;
  readonly #all: Characters;

  constructor(flags: AST.Flags) {
    this.#flags = flags;
    this.#none = Chars.empty(flags);
    this.#all = Chars.all(flags);
  }

  /**
   * Whether a long text can be divided in many ways between two repeated parts, or between one and
   * what a pattern without an anchor skips, all of which may fail.
   */
  hasSharedText(alternatives: readonly AST.Alternative[]): boolean {
    return this.#unfold(alternatives).some((parts) => {
      const isAnchored = this.#flags.sticky || parts[0]?.kind === "start";
      let runs: Run[] = isAnchored ? [] : [{ characters: this.#all, then: [] }];
      return parts.some(({ kind, characters, optional }, index) => {
        const canShare = (kind === "run" || kind === "count") &&
          this.#mayFail(characters, parts.slice(index + 1)) &&
          runs.some((run) => {
            const both = run.characters.intersect(characters);
            return !both.isEmpty && run.then.every((one) => !one.isDisjointWith(both));
          });
        if (!isAssertion(kind) && !optional) {
          runs = runs.map((run) => ({ ...run, then: [...run.then, characters] }));
        }
        if (kind === "run") runs = [...runs, { characters, then: [] }];
        return canShare;
      });
    });
  }

  /** Whether what follows a run may not fit although the run is as long as it can be. */
  #mayFail(run: Characters, rest: readonly Part[]): boolean {
    const [next] = rest.filter(({ optional }) => !optional);
    if (next === undefined) return false;
    if (next.kind !== "end" || rest.length > 1) return true;
    const { multiline } = this.#flags;
    const ends = multiline ? run.union(Chars.lineTerminator(this.#flags)) : run;
    return !ends.isAll;
  }

  #unfold(alternatives: readonly AST.Alternative[]): Part[][] {
    return alternatives.flatMap(({ elements }) => {
      let sequences: Part[][] = [[]];
      for (const element of elements) {
        const ways = this.#partsOf(element);
        if (sequences.length * ways.length > MAX_SEQUENCES) return [];
        sequences = sequences.flatMap((parts) => ways.map((way) => parts.concat(way)));
      }
      return sequences;
    });
  }

  /** An element as sequences of parts, one for each way to read it. */
  #partsOf(element: AST.Element): Part[][] {
    switch (element.type) {
      case "Assertion":
        return [[this.#assertion(element)]];
      case "Group":
      case "CapturingGroup":
        return this.#unfold(element.alternatives);
      case "Quantifier":
        return this.#repeated(element);
      case "Backreference":
        return [[{
          kind: "character",
          characters: this.#charactersOf([element.resolved].flat()[0] ?? element),
          optional: false,
        }]];
      default:
        return [[{
          kind: "character",
          characters: toUnicodeSet(element, this.#flags).chars,
          optional: false,
        }]];
    }
  }

  #assertion(element: AST.Assertion): Part {
    const { multiline } = this.#flags;
    const part = { characters: this.#none, optional: false };
    if (element.kind === "start") {
      // The start of a line that is not the first one: the end of the line before is read too.
      const characters = Chars.lineTerminator(this.#flags);
      return multiline ? { ...part, kind: "character", characters } : { ...part, kind: "start" };
    }
    if (element.kind === "lookbehind") {
      const { elements = [] } = element.alternatives.length === 1
        ? element.alternatives[0] ?? {}
        : {};
      const [before] = elements;
      if (elements.length !== 1 || before === undefined) return { ...part, kind: "assertion" };
      // The character before is read again, as if it stood here.
      const named = this.#charactersOf(before);
      const characters = element.negate ? named.negate() : named;
      return { ...part, kind: "character", characters };
    }
    return { ...part, kind: element.kind === "end" ? "end" : "assertion" };
  }

  #repeated({ min, max, element }: AST.Quantifier): Part[][] {
    const optional = min === 0;
    const characters = this.#charactersOf(element);
    const isGroup = element.type === "Group" || element.type === "CapturingGroup";
    const once = isGroup ? this.#unfold(element.alternatives) : [];
    if (max > MAX_REPETITIONS) {
      const hasRuns = once.some((parts) => parts.some(({ kind }) => kind === "run"));
      if (!hasRuns) return [[{ kind: min === max ? "count" : "run", characters, optional }]];
      const twice = once.map((parts) => [...parts, ...parts]);
      return optional ? [[], ...twice] : twice;
    }
    if (isGroup) return optional ? [[], ...once] : once;
    return [[{ kind: "character", characters, optional }]];
  }

  /** All characters that an element may read, also further inside. */
  #charactersOf(element: AST.Element): Characters {
    let characters = this.#none;
    hasSomeDescendant(element, (node) => {
      switch (node.type) {
        case "Character":
        case "CharacterSet":
        case "CharacterClass":
        case "ExpressionCharacterClass":
          characters = characters.union(toUnicodeSet(node, this.#flags).chars);
      }
      return false;
    }, ({ type }) => type !== "CharacterClass" && type !== "ExpressionCharacterClass");
    return characters;
  }
}

function isAssertion(kind: Part["kind"]): boolean {
  return kind === "start" || kind === "end" || kind === "assertion";
}

function isPattern(node: Deno.lint.Node): node is Deno.lint.RegExpLiteral {
  return node.type === "Literal" && node.value instanceof RegExp;
}

/** Methods of strings that make a regular expression of a string. */
const SEARCHES: ReadonlySet<string> = new Set(["match", "matchAll", "search"]);

/** Stands in for a part of a pattern that this plugin does not know. */
const UNKNOWN = "x";

/** The text of an expression, as far as it follows from the module's own constants. */
function textOf(node: Deno.lint.Node, constants: ReadonlyMap<string, Deno.lint.Node>): string {
  const of = (part: Deno.lint.Node) => textOf(part, constants);
  switch (node.type) {
    case "Literal":
      return isPattern(node) ? node.regex.pattern : String(node.value);
    case "Identifier": {
      const value = constants.get(node.name);
      return value === undefined ? UNKNOWN : of(value);
    }
    case "BinaryExpression":
      return of(node.left) + of(node.right);
    case "TaggedTemplateExpression":
      return templateOf(node.quasi, of, ({ raw }) => raw);
    case "TemplateLiteral":
      return templateOf(node, of, ({ cooked }) => cooked);
    case "MemberExpression":
      return node.property.type === "Identifier" && node.property.name === "source"
        ? of(node.object)
        : UNKNOWN;
    default:
      return UNKNOWN;
  }
}

function templateOf(
  { quasis, expressions }: Deno.lint.TemplateLiteral,
  of: (part: Deno.lint.Node) => string,
  write: (quasi: Deno.lint.TemplateElement) => string,
): string {
  return quasis.map((quasi, index) => {
    const expression = expressions[index];
    return write(quasi) + (expression === undefined ? "" : of(expression));
  }).join("");
}

/** The constants at the top of a module, by their names. */
function constantsOf({ body }: Deno.lint.Program): Map<string, Deno.lint.Node> {
  const constants = new Map<string, Deno.lint.Node>();
  for (const statement of body) {
    const declared = statement.type === "ExportNamedDeclaration"
      ? statement.declaration
      : statement;
    if (declared?.type !== "VariableDeclaration" || declared.kind !== "const") continue;
    for (const { id, init } of declared.declarations) {
      if (id.type === "Identifier" && init !== null) constants.set(id.name, init);
    }
  }
  return constants;
}

/** Folders beside the program: nobody else gives them their input. */
const OUTSIDE: ReadonlySet<string> = new Set(["bench", "scripts", "tests"]);

const ROOT = resolve(import.meta.dirname ?? ".", "../..");

/** Reports regular expressions of the program that may take more than linear time. */
const linear: Deno.lint.Rule = {
  create(context) {
    const [folder = ""] = relative(ROOT, resolve(ROOT, context.filename)).split(sep);
    if (OUTSIDE.has(folder)) return {};
    const constants = constantsOf(context.sourceCode.ast);
    function judge(node: Deno.lint.Node, source: string, flags: string) {
      const reason = backtracking(source, flags);
      if (reason === null) return;
      const message = `This regular expression ${reason}: let no two parts read the same text`;
      context.report({ node, message });
    }
    /** A call that makes a regular expression of its first argument. */
    function judgeCall(node: Deno.lint.NewExpression | Deno.lint.CallExpression) {
      const { callee } = node;
      const [first] = node.arguments;
      const makes = callee.type === "Identifier"
        ? callee.name === "RegExp"
        : callee.type === "MemberExpression" && callee.property.type === "Identifier" &&
          SEARCHES.has(callee.property.name) && node.arguments.length === 1 &&
          first?.type === "Literal" && !isPattern(first);
      if (!makes) return;
      const [pattern, flags] = node.arguments.map((one) => textOf(one, constants));
      if (pattern !== undefined) judge(node, pattern, flags ?? "");
    }
    return {
      Literal(node) {
        if (isPattern(node)) judge(node, node.regex.pattern, node.regex.flags);
      },
      VariableDeclarator({ id, init }) {
        if (id.type === "Identifier" && init !== null) constants.set(id.name, init);
      },
      NewExpression(node) {
        judgeCall(node);
      },
      CallExpression(node) {
        judgeCall(node);
      },
    };
  },
};

/** The plugin, for `deno.json`. */
const plugin: Deno.lint.Plugin = { name: "regular-expressions", rules: { linear } };

export default plugin;
