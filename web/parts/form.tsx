import type { Child, PropsWithChildren } from "hono/jsx";
import type { Visit } from "../visit.ts";

/**
 * A form that is sent to its own page. It carries the name of its action and the CSRF token.
 *
 * @param to another address, such as that of the page to which the form belongs
 */
export function Form({ visit, action, to, children, label, ...rest }: PropsWithChildren<{
  readonly visit: Visit;
  readonly action: string;
  readonly to?: string;
  /** For screen readers, where a page has several forms of one kind. */
  readonly label?: string;
  readonly class?: string;
}>) {
  return (
    <form
      method="post"
      action={to ?? visit.url.pathname + visit.url.search}
      class={rest.class ?? "form"}
      aria-label={label}
    >
      <input type="hidden" name="action" value={action} />
      {visit.session !== null && (
        <input
          type="hidden"
          name="csrf"
          value={visit.session.csrfToken}
        />
      )}
      {children}
    </form>
  );
}

/** A form that is one button. */
export function ButtonForm({ visit, action, to, values = {}, label, look = "" }: {
  readonly visit: Visit;
  readonly action: string;
  readonly to?: string;
  readonly values?: Readonly<Record<string, string>>;
  readonly label: Child;
  /** `primary`, `danger` or nothing. */
  readonly look?: string;
}) {
  return (
    <Form visit={visit} action={action} class="inline" {...(to === undefined ? {} : { to })}>
      {Object.entries(values).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class={look}>{label}</button>
    </Form>
  );
}

/** A labelled field of a form. The children are the control; give it the same id. */
export function Field({ id, label, hint, children }: PropsWithChildren<{
  readonly id: string;
  readonly label: Child;
  readonly hint?: Child;
}>) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint !== undefined && <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

/** Most names that a field suggests. */
const MAX_SUGGESTED = 500;

/** A field of text. It keeps what the person entered when the form is refused. */
export function TextField({ visit, name, label, hint, value = "", names, ...input }: {
  readonly visit: Visit;
  readonly name: string;
  readonly label: Child;
  readonly hint?: Child;
  readonly value?: string;
  readonly type?: "text" | "password" | "email" | "url" | "number" | "search";
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly pattern?: string;
  readonly maxlength?: number;
  /** What the field suggests. */
  readonly names?: readonly string[];
  /** Whether it takes several of the names, with commas between them. */
  readonly isList?: boolean;
}) {
  const { type = "text" } = input;
  const list = names === undefined || names.length === 0 ? undefined : `${name}-names`;
  return (
    <Field id={name} label={label} {...(hint === undefined ? {} : { hint })}>
      <input
        id={name}
        name={name}
        type={type}
        value={type === "password" ? "" : visit.entered(name, value)}
        required={input.required}
        autocomplete={input.autocomplete ?? "off"}
        pattern={input.pattern}
        maxlength={input.maxlength}
        list={list}
        data-names={input.isList === true && list !== undefined ? "" : undefined}
        aria-describedby={hint === undefined ? undefined : `${name}-hint`}
        aria-invalid={visit.refusedField === name ? "true" : undefined}
      />
      {list !== undefined && (
        <datalist id={list}>
          {names?.slice(0, MAX_SUGGESTED).map((known) => <option value={known} />)}
        </datalist>
      )}
    </Field>
  );
}

/** A field of several lines. Browsers drop the first line end of its text. */
export function TextArea({ visit, name, label, hint, value = "", rows = 6, required = false }: {
  readonly visit: Visit;
  readonly name: string;
  readonly label: Child;
  readonly hint?: Child;
  readonly value?: string;
  readonly rows?: number;
  readonly required?: boolean;
}) {
  return (
    <Field id={name} label={label} {...(hint === undefined ? {} : { hint })}>
      <textarea
        id={name}
        name={name}
        rows={rows}
        required={required}
        aria-describedby={hint === undefined ? undefined : `${name}-hint`}
        aria-invalid={visit.refusedField === name ? "true" : undefined}
      >
        {`\n${visit.entered(name, value)}`}
      </textarea>
    </Field>
  );
}

/** A choice of one among several. */
export function Select({ visit, name, label, hint, options, value = "" }: {
  readonly visit: Visit;
  readonly name: string;
  readonly label: Child;
  readonly hint?: Child;
  /** Each value with its words. */
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly value?: string;
}) {
  const chosen = visit.entered(name, value);
  return (
    <Field id={name} label={label} {...(hint === undefined ? {} : { hint })}>
      <select
        id={name}
        name={name}
        aria-describedby={hint === undefined ? undefined : `${name}-hint`}
        aria-invalid={visit.refusedField === name ? "true" : undefined}
      >
        {options.map(([option, words]) => (
          <option value={option} selected={option === chosen}>{words}</option>
        ))}
      </select>
    </Field>
  );
}

/**
 * The page to which a form leads, from its field `next` or else the query: a path of this server,
 * and never another site. A path that begins with two slashes names a host, and `/.//host` becomes
 * one when it is resolved.
 */
export function nextOf(visit: Visit, otherwise = "/"): string {
  const next = visit.form.get("next") ?? visit.query("next") ?? otherwise;
  const url = URL.parse(String(next), visit.url);
  const isHere = url !== null && url.origin === visit.url.origin && String(next).startsWith("/") &&
    !url.pathname.startsWith("//");
  return isHere ? url.pathname + url.search : otherwise;
}

/** Names that a field may be about. A person learns no more of them than the pages show anyway. */
export const knownNames = {
  agents: ({ services: { accounts } }: Visit): readonly string[] => accounts.names("agent"),

  people: ({ services: { accounts }, isAdmin }: Visit): readonly string[] =>
    isAdmin ? accounts.names("person", "admin") : [],

  accounts: (visit: Visit): readonly string[] =>
    [...knownNames.agents(visit), ...knownNames.people(visit)].sort(),

  channels: ({ services: { bridge, chats }, caller, isAdmin }: Visit): readonly string[] =>
    isAdmin ? bridge?.channels() ?? [] : chats.sidebar(caller, () => false).map(({ name }) => name),

  projects: ({ services: { hosting }, isAdmin }: Visit): readonly string[] =>
    isAdmin ? hosting.projects.all().map(({ project }) => project.slug) : [],
};

/** The words of a field, separated by commas or spaces. */
export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
