import type { z } from "zod";

/** What to do about a kind of failure, as a sentence; for missing kinds there is general advice. */
export interface ToolAdvice {
  /** Something that the call names does not exist. */
  readonly notFound?: string;
  /** The present state does not allow it. */
  readonly conflict?: string;
  /** A merge has conflicts, which the error lists. */
  readonly mergeConflict?: string;
  /** The caller may not do it. */
  readonly forbidden?: string;
  /** No answer came in time; it may or may not have been done. */
  readonly timedOut?: string;
}

/** Annotations of a tool beside those that follow from its operation. */
export interface ToolHints {
  /** Whether it changes nothing, if the operation does not tell. */
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
}

/** The list that an answer consists of. */
export interface ToolList {
  /** The field of the answer that has it; its new name if the answer is a list itself. */
  readonly field: string;
  /** What it holds, such as `check-ins`. */
  readonly noun: string;
  /** How many entries a call gets that names no number. */
  readonly limit: number;
}

/**
 * How an operation is a tool of MCP: what its declaration does not say already. The tool takes the
 * fields of the input, shows the fields of the answer, and is for those who may call the operation.
 */
export interface ToolDeclaration {
  readonly name: string;
  /** What the tool does, when to use it and what to do next. */
  readonly about: string;
  /**
   * The arguments, by their names: how to describe the field of the input to a model, or a schema in
   * place of the field's own. Absent: the fields of the input as they are.
   */
  readonly takes?: Readonly<Record<string, string | z.ZodType>>;
  /** The fields of arguments that are called otherwise. */
  readonly names?: Readonly<Record<string, string>>;
  /** The list that the answer consists of: the tool takes `limit` and `offset`, and cuts its end. */
  readonly list?: ToolList;
  /** The fields of the answer that it shows; absent: all, or the list alone. */
  readonly shows?: readonly string[];
  /** Fields of the answer that it leaves out, such as what the caller has just sent. */
  readonly hides?: readonly string[];
  /** Lists of the answer from whose ends entries may be left out, the first one first. */
  readonly cuts?: readonly string[];
  readonly hints?: ToolHints;
  /** Advice about failures that is specific to this tool. */
  readonly advice?: ToolAdvice;
  /** Arguments of a call, for tests that call every tool, if `example` has not all. */
  readonly example?: Readonly<Record<string, unknown>>;
}
