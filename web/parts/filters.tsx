import { Search } from "lucide-static";
import type { PropsWithChildren } from "hono/jsx";
import { type Query, type Visit, withQuery } from "../visit.ts";
import { Icon } from "./icon.tsx";

/** The address of the same list with other values in its query; it starts at the first page. */
export function linkWith(visit: Visit, values: Query): string {
  return withQuery(visit.url.pathname, {
    ...Object.fromEntries(visit.url.searchParams),
    page: undefined,
    ...values,
  });
}

/**
 * The filters of a list, which are in its address.
 *
 * @param keep the parameters that are no fields of the form and stay as they are
 */
export function Filters({ visit, keep, label, children }: PropsWithChildren<{
  readonly visit: Visit;
  readonly keep: readonly string[];
  readonly label: string;
}>) {
  return (
    <form
      method="get"
      action={visit.url.pathname}
      class="list-filters"
      role="search"
      aria-label={label}
    >
      {keep.map((name) => <Kept key={name} name={name} value={visit.query(name)} />)}
      {children}
      <button type="submit">Apply</button>
    </form>
  );
}

function Kept({ name, value }: { readonly name: string; readonly value: string | undefined }) {
  return value === undefined ? null : <input type="hidden" name={name} value={value} />;
}

/** A field for words; the key "/" leads to it. */
export function SearchFilter({ visit, label }: { readonly visit: Visit; readonly label: string }) {
  return (
    <label class="search-filter">
      <span class="hidden-text">{label}</span>
      <Icon svg={Search} />
      <input type="search" name="search" value={visit.query("search") ?? ""} placeholder={label} />
    </label>
  );
}

/** A choice among the values of a field; the first one stands for no filter. */
export function SelectFilter({ visit, name, label, any, options }: {
  readonly visit: Visit;
  readonly name: string;
  readonly label: string;
  /** The words for no filter. */
  readonly any: string;
  readonly options: readonly (readonly [value: string, words: string])[];
}) {
  const chosen = visit.query(name) ?? "";
  const isKnown = chosen === "" || options.some(([value]) => value === chosen);
  return (
    <label>
      <span class="hidden-text">{label}</span>
      <select name={name}>
        <option value="">{any}</option>
        {!isKnown && <option value={chosen} selected>{chosen}</option>}
        {options.map(([value, words]) => (
          <option value={value} selected={value === chosen}>{words}</option>
        ))}
      </select>
    </label>
  );
}

/** Links of which one is current, such as the views of a list. */
export function Segments({ label, links }: {
  readonly label: string;
  readonly links: readonly {
    readonly to: string;
    readonly words: string;
    readonly count?: number;
    readonly isCurrent: boolean;
  }[];
}) {
  return (
    <nav class="segments" aria-label={label}>
      {links.map(({ to, words, count, isCurrent }) => (
        <a href={to} aria-current={isCurrent ? "true" : undefined}>
          {words}
          {count !== undefined && <span class="soft">{count}</span>}
        </a>
      ))}
    </nav>
  );
}
