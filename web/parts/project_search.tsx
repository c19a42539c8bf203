/** What a search finds: the kind, the name of its group in the answer, and its heading. */
export const SEARCH_KINDS = [
  ["code", "code", "Code"],
  ["checkin", "checkins", "Check-ins"],
  ["ticket", "tickets", "Tickets"],
  ["wiki", "wiki", "Wiki"],
  ["technote", "technotes", "Technotes"],
  ["forum", "forum", "Forum"],
] as const;

/** What a form of a search holds. */
interface Sought {
  /** What was searched for. */
  readonly q?: string | undefined;
  /** The kind that is chosen; empty for all. */
  readonly kind?: string | undefined;
}

/** The search in everything that a project's repository holds. */
export function ProjectSearch({ slug, ...sought }: Sought & { readonly slug: string }) {
  const action = `/projects/${slug}/search`;
  return <SearchForm action={action} label="Search this project" sought={sought} />;
}

/** The search in all projects that the visitor may read. */
export function SearchEverywhere(sought: Sought) {
  return <SearchForm action="/search" label="Search all projects" sought={sought} />;
}

function SearchForm({ action, label, sought: { q = "", kind = "" } }: {
  readonly action: string;
  readonly label: string;
  readonly sought: Sought;
}) {
  return (
    <form class="row search-row" role="search" action={action}>
      <label class="hidden-text" for="q">{label}</label>
      <input id="q" name="q" type="search" value={q} placeholder={label} />
      <label class="hidden-text" for="kind">In</label>
      <select id="kind" name="kind">
        <option value="">Everywhere</option>
        {SEARCH_KINDS.map(([value, , words]) => (
          <option value={value} selected={value === kind}>{words}</option>
        ))}
      </select>
      <button type="submit">Search</button>
    </form>
  );
}
