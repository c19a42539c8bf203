/** What an operation says of its command; `deno task reference` writes the commands from it. */

/** An option of a command, where the schema of its field does not say all. */
export interface CommandOption {
  /** `-n, --lines <count>`; by default, the name of the field. */
  readonly flags?: string;
  /** A clause in lower case, without a period; by default, the description of the field. */
  readonly about?: string;
  /** What is sent if the option is absent. */
  readonly default?: number | string;
}

/**
 * A command that calls an operation once, and shows its answer. Its options are the fields of the
 * input that are no arguments.
 *
 * It shows the answer by templates. `{last_seen|"never"}` is a field of the answer or of the input; if
 * it is empty, the text. `{active?on|off}` is the first text if the field is true, else the second.
 * `{since:time}` is a field in a format of `cli/operations.ts`. A part in `[…]` is left out if a field
 * in it is empty. `{}` is the answer itself.
 */
export interface CommandDeclaration {
  /**
   * Its words, and then its arguments: `agent claims <nick>`. An argument is the field of its name,
   * unless it names another one, `<account:nick>`; `<text...>` takes the remaining words.
   */
  readonly at: string;
  /** What it does: a clause in lower case, without a period. */
  readonly about: string;
  /** Other names of its last word: they work, but are not listed. */
  readonly aliases?: readonly string[];
  /** Its options by field: what they say, if not their descriptions. Null: it has none. */
  readonly options?: Readonly<Record<string, CommandOption | string | null>> | null;
  /** Input that it always sends. */
  readonly sends?: Readonly<Record<string, boolean | number | string>>;
  /** The columns of a table of the items of the answer: fields, or `TITLE: template`. */
  readonly columns?: readonly string[];
  /** The field of the answer that has the items, if the answer is no list. */
  readonly items?: string;
  /** Lines with a name and a value: fields, or `name: template`. */
  readonly fields?: readonly string[];
  /** What it says of the answer, or of each item of it: a template. */
  readonly says?: string;
  /** Paragraphs of its help. */
  readonly notes?: readonly string[];
  readonly examples?: readonly { readonly line: string; readonly purpose: string }[];
}
