import type { z } from "zod";
import { listContributors } from "../../../services/work/code/operations.ts";
import type { contributorsSchema } from "../../../services/work/code/schemas.ts";
import { definePage, type View } from "../../page.ts";
import { Empty, Pager } from "../../parts/lists.tsx";
import { PublicHead } from "../../parts/public_head.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import type { Visit } from "../../visit.ts";

/** Who made the check-ins of a project, and when. */
export const page = definePage({ opens: "anybody", show, json: () => "/api/contributors" });

export type Contributions = z.output<typeof contributorsSchema>;
type Contributor = Contributions["contributors"][number];

const PER_PAGE = 50;

async function show(visit: Visit): Promise<View> {
  const project = new CodeProject(visit);
  const { contributors, months } = await project.invoke(listContributors, {});
  const wanted = visit.query("q")?.toLowerCase() ?? "";
  const found = contributors.filter(({ user }) => user.toLowerCase().includes(wanted));
  const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
  const page = Math.min(visit.pageNumber, pages);
  const most = contributors[0]?.checkin_count ?? 1;
  const total = contributors.reduce((sum, { checkin_count }) => sum + checkin_count, 0);
  const body = (
    <>
      <h1>Contributors</h1>
      <p class="soft">
        {contributors.length.toLocaleString("en")}{" "}
        {contributors.length === 1 ? "contributor" : "contributors"}, {total.toLocaleString("en")}
        {" "}
        {total === 1 ? "check-in" : "check-ins"}
      </p>
      <Activity months={months} />
      <form class="row search-row" role="search">
        <label class="hidden-text" for="q">Search contributors</label>
        <input
          id="q"
          name="q"
          type="search"
          value={visit.query("q")}
          placeholder="Search contributors"
        />
        <button type="submit">Search</button>
      </form>
      {found.length === 0
        ? <Empty>{wanted === "" ? "There are no check-ins yet." : "No contributor matches."}</Empty>
        : (
          <ul class="list" data-keys="list">
            {found.slice((page - 1) * PER_PAGE, page * PER_PAGE).map((one) => (
              <li>
                <Entry {...{ project, one, most }} />
              </li>
            ))}
          </ul>
        )}
      <Pager visit={visit} page={page} pages={pages} />
    </>
  );
  return {
    title: `Contributors · ${project.view.name}`,
    body,
    project: project.place("timeline"),
    head: <PublicHead project={project} title={`Contributors · ${project.view.name}`} />,
  };
}

function Entry({ project: { to }, one, most }: {
  readonly project: CodeProject;
  readonly one: Contributor;
  /** The most check-ins of one contributor: the length of the longest bar. */
  readonly most: number;
}) {
  const { user, checkin_count: count, first_checkin, last_checkin } = one;
  return (
    <div class="contributor">
      <div>
        <a class="strong" href={to.at("/timeline", { user })}>{user === "" ? "(nobody)" : user}</a>
        <div class="soft small">
          first <Time at={first_checkin} />, last <Time at={last_checkin} />
        </div>
      </div>
      <svg class="share" width="100%" height="6" aria-hidden="true">
        <rect width={`${(100 * count / most).toFixed(2)}%`} height="6" rx="3" />
      </svg>
      <span class="soft small end">
        {count === 1 ? "1 check-in" : `${count.toLocaleString("en")} check-ins`}
      </span>
    </div>
  );
}

/** Most months that are drawn, and the size of the drawing in its own units. */
const [MAX_MONTHS, HEIGHT, STEP] = [240, 60, 8];

/** Check-ins by month, as bars. */
export function Activity({ months }: Pick<Contributions, "months">) {
  const shown = everyMonth(months).slice(-MAX_MONTHS);
  if (shown.length < 2) return null;
  const most = Math.max(...shown.map(({ checkin_count }) => checkin_count));
  const [first, last] = [shown[0]?.month ?? "", shown.at(-1)?.month ?? ""];
  return (
    <figure class="activity-plot">
      <svg
        viewBox={`0 0 ${shown.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Check-ins by month, from ${first} to ${last}; at most ${most} in a month`}
      >
        {shown.map(({ month, checkin_count: count }, index) => {
          const height = count === 0 ? 0 : Math.max(1, HEIGHT * count / most);
          return (
            <rect x={index * STEP} y={HEIGHT - height} width={STEP - 1} height={height}>
              <title>{`${month}: ${count}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption class="soft small">
        <span>{first}</span>
        <span>check-ins by month, at most {most.toLocaleString("en")}</span>
        <span>{last}</span>
      </figcaption>
    </figure>
  );
}

/** The months with those between them in which nothing happened. */
function everyMonth(months: Contributions["months"]): Contributions["months"] {
  const counts = new Map(months.map(({ month, checkin_count }) => [month, checkin_count]));
  const numberOf = (month: string) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1;
  const last = numberOf(months.at(-1)?.month ?? "0000-01");
  const first = Math.max(numberOf(months[0]?.month ?? "0000-01"), last - MAX_MONTHS);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const number = first + index;
    const month = `${Math.floor(number / 12)}-${String(number % 12 + 1).padStart(2, "0")}`;
    return { month, checkin_count: counts.get(month) ?? 0 };
  });
}
