/** What a search finds: the kind, the name of its group in the answer, and its heading. */
export const SEARCH_KINDS = [
  ["code", "code", "Code"],
  ["checkin", "checkins", "Check-ins"],
  ["ticket", "tickets", "Tickets"],
  ["wiki", "wiki", "Wiki"],
  ["technote", "technotes", "Technotes"],
  ["forum", "forum", "Forum"],
] as const;

/** The search in everything that a project's repository holds. */
export function ProjectSearch({ slug, q = "", kind = "" }: {
  readonly slug: string;
  /** What was searched for. */
  readonly q?: string | undefined;
  /** The kind that is chosen; empty for all. */
  readonly kind?: string;
}) {
  return (
    <form class="row search-row" role="search" action={`/projects/${slug}/search`}>
      <label class="hidden-text" for="q">Search this project</label>
      <input id="q" name="q" type="search" value={q} placeholder="Search this project" />
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
