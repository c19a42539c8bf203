import type { z } from "zod";
import { getWikiDiff, getWikiHistory } from "../../../services/work/wiki/operations.ts";
import type { wikiHistorySchema } from "../../../services/work/wiki/schemas.ts";
import type { View } from "../../page.ts";
import { AccountName, type NamePlace } from "../../parts/account_name.tsx";
import { Pager } from "../../parts/lists.tsx";
import { PlainDiff } from "../../parts/plain_diff.tsx";
import { Time } from "../../parts/time.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

type History = z.output<typeof wikiHistorySchema>;

const PER_PAGE = 50;

/** The versions of a page. Two of them can be compared. */
export async function showHistory(visit: Visit, project: OpenProject): Promise<View> {
  const name = visit.param("name");
  const query = { name, page: visit.pageNumber, per_page: PER_PAGE };
  const history = await visit.invoke(project.slug, getWikiHistory, query);
  const body = (
    <>
      <div class="page-head">
        <h1>History of {name}</h1>
        <a class="button" href={visit.url.pathname}>Back to the page</a>
      </div>
      <form method="get" action={visit.url.pathname}>
        <input type="hidden" name="view" value="diff" />
        <div class="table-scroll" tabindex={0} role="region" aria-label="Versions">
          <table class="stacks">
            <thead>
              <tr>
                <th>From</th>
                <th>To</th>
                <th>Version</th>
                <th>Author</th>
                <th>Size</th>
              </tr>
            </thead>
            <tbody>
              {history.versions.map((version, index) => (
                <Version {...{ visit, project, version, index }} />
              ))}
            </tbody>
          </table>
        </div>
        {history.total > 1 && <button type="submit">Compare the two versions</button>}
      </form>
      <Pager visit={visit} page={history.page} pages={history.total_pages} />
    </>
  );
  return { title: `History of ${name}`, body, project: project.place("wiki") };
}

function Version({ visit, project, version, index }: NamePlace & {
  readonly version: History["versions"][number];
  readonly index: number;
}) {
  const { uuid, timestamp, user, size, is_deletion } = version;
  const short = uuid.slice(0, 10);
  return (
    <tr>
      <td>
        <input
          type="radio"
          name="from"
          value={uuid}
          checked={index === 1}
          aria-label={`From ${short}`}
        />
        <span class="stack-label" aria-hidden="true">from</span>
      </td>
      <td>
        <input
          type="radio"
          name="to"
          value={uuid}
          checked={index === 0}
          aria-label={`To ${short}`}
        />
        <span class="stack-label" aria-hidden="true">to</span>
      </td>
      <td>
        {is_deletion ? "deleted" : <a href={`${visit.url.pathname}?version=${uuid}`}>{short}</a>}
        {" "}
        <Time at={timestamp} />
      </td>
      <td>
        <AccountName {...{ visit, project }} name={user} />
      </td>
      <td class="soft">{size === 1 ? "1 byte" : `${size.toLocaleString("en")} bytes`}</td>
    </tr>
  );
}

/** What changed between two versions of a page. */
export async function showDifference(visit: Visit, project: OpenProject): Promise<View> {
  const name = visit.param("name");
  const query = { name, from: visit.query("from"), to: visit.query("to") };
  const { from, to, added, deleted, diff } = await visit.invoke(project.slug, getWikiDiff, query);
  const body = (
    <>
      <div class="page-head">
        <h1>Changes of {name}</h1>
        <div class="row">
          <a class="button" href={`${visit.url.pathname}?view=history`}>History</a>
          <a class="button" href={visit.url.pathname}>Back to the page</a>
        </div>
      </div>
      <p class="meta">
        <span>
          {from === null ? "nothing" : <code>{from.slice(0, 10)}</code>} to{" "}
          <code>{to.slice(0, 10)}</code>
        </span>
        <span>{added === 1 ? "1 line" : `${added} lines`} added, {deleted} deleted</span>
      </p>
      {diff === ""
        ? <p>The two versions have the same text.</p>
        : <PlainDiff diff={diff} label={`Changes of ${name}`} />}
    </>
  );
  return { title: `Changes of ${name}`, body, project: project.place("wiki") };
}
