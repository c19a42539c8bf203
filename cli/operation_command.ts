/** Where a value of the command line goes, and what it is. */
export interface Value {
  /** The field of the input. */
  readonly field: string;
  readonly kind: "text" | "number" | "flag" | "list";
  readonly choices?: readonly string[];
}

/** A title, and the template of what stands below or beside it. */
type Titled = readonly [title: string, template: string];

/** A command as its operation declares it. */
export interface OperationCommand {
  /** Its words, such as `agent claims`. */
  readonly at: string;
  readonly about: string;
  readonly aliases?: readonly string[];
  /** The method and the path; its parameters are fields of the input. */
  readonly http: string;
  readonly parameters: readonly (Value & { readonly usage: string })[];
  readonly options: readonly (Value & {
    readonly flags: string;
    readonly about: string;
    readonly default?: number | string;
  })[];
  readonly sends?: Readonly<Record<string, unknown>>;
  /** Whether the request has a body. */
  readonly hasBody?: true;
  /** Whether it shows an answer, and so can print it as JSON. */
  readonly hasAnswer?: true;
  readonly columns?: readonly Titled[];
  readonly items?: string;
  readonly fields?: readonly Titled[];
  readonly says?: string;
  readonly notes?: readonly string[];
  readonly examples?: readonly { readonly line: string; readonly purpose: string }[];
}
