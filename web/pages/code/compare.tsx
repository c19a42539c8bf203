import type { z } from "zod";
import { compareCheckins } from "../../../services/work/code/operations.ts";
import type { comparisonSchema } from "../../../services/work/code/schemas.ts";
import { Invalid } from "../../../services/kernel/errors.ts";
import { definePage, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { DiffPart, layoutOf, patchOf, readDiff } from "../../parts/diff_page.tsx";
import {
  CheckinLink,
  firstLine,
  hasAddress,
  readBranchesAndTags,
  shortName,
} from "../../parts/files.tsx";
import { linkWith, Segments } from "../../parts/filters.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import { type Visit, withQuery } from "../../visit.ts";

/**
 * What two check-ins differ in: `compare/FROM...TO`, of any names of check-ins. As on every forge,
 * it is what TO has changed since the two parted; `?view=direct` compares the two themselves.
 */
export const page = definePage({
  opens: "anybody",
  show,
  json: (visit) => withQuery("/api/diff", { ...sidesOf(visit), common: commonOf(visit) }),
});

type Comparison = z.output<typeof comparisonSchema>;

/** Check-ins that are listed, and up to which number the list is unfolded. */
const [CHECKINS, UNFOLDED] = [100, 10];

function isDirect(visit: Visit): boolean {
  return visit.query("view") === "direct";
}

function commonOf(visit: Visit) {
  return isDirect(visit) ? "false" : "true";
}

/**
 * The two names in the address.
 *
 * @throws Invalid if there are not two
 */
function sidesOf(visit: Visit): { from: string; to: string } {
  const range = visit.param("range");
  const middle = range.indexOf("...");
  const [from, to] = [range.slice(0, Math.max(0, middle)), range.slice(middle + 3)];
  if (from === "" || to === "") {
    throw new Invalid('Name two check-ins with three dots between them, as in "trunk...fix"');
  }
  return { from, to };
}

async function show(visit: Visit): Promise<View | Response> {
  const project = new CodeProject(visit);
  const asked = { from: visit.query("from") ?? "", to: visit.query("to") ?? "" };
  if (asked.from !== "" && asked.to !== "") {
    return visit.context.redirect(project.to.compare(asked.from, asked.to), 303);
  }
  if (visit.param("range") === "") return await askForSides(project, asked);
  const { from, to } = sidesOf(visit);
  if (visit.query("format") === "patch") {
    return await patchOf(project, { from, to, common: commonOf(visit) });
  }
  const [diff, compared, names] = await Promise.all([
    readDiff(project, { from, to, common: commonOf(visit) }),
    project.invoke(compareCheckins, { from, to, per_page: CHECKINS }),
    suggested(project),
  ]);
  const body = (
    <>
      <div class="page-head">
        <h1>Compare</h1>
        <span class="file-actions">
          <a href={linkWith(visit, { format: "patch" })}>Patch</a>
          <a href={project.to.compare(to, from)}>Swap sides</a>
        </span>
      </div>
      <CompareForm {...{ from, to, names }} />
      <Ways {...{ visit, compared, from, to }} />
      <Checkins {...{ project, compared }} />
      <DiffPart
        {...{ project, diff }}
        layout={layoutOf(visit)}
        before={diff.from}
        after={diff.to}
      />
    </>
  );
  return {
    title: `${shortName(from)}...${shortName(to)} · ${project.view.name}`,
    body,
    project: project.place("branches"),
  };
}

/** The page without two names: the form alone. */
async function askForSides(project: CodeProject, { from, to }: Sides): Promise<View> {
  const body = (
    <>
      <h1>Compare</h1>
      <p>Name two branches, tags or check-ins.</p>
      <CompareForm {...{ from, to }} names={await suggested(project)} />
    </>
  );
  return { title: `Compare · ${project.view.name}`, body, project: project.place("branches") };
}

interface Sides {
  readonly from: string;
  readonly to: string;
}

/** The names that the fields suggest: open branches, and tags, the newest first. */
async function suggested(project: CodeProject): Promise<readonly string[]> {
  const { branches, tags } = await readBranchesAndTags(project);
  const open = branches.filter(({ status }) => status === "open");
  return [open, tags].flatMap((list) => list.filter(hasAddress))
    .map(({ name }) => name);
}

function CompareForm({ from, to, names }: Sides & { readonly names: readonly string[] }) {
  return (
    <form class="code-filters">
      <div class="field">
        <label for="from">From</label>
        <input id="from" name="from" value={from} list="names" autocomplete="off" required />
      </div>
      <div class="field">
        <label for="to">To</label>
        <input id="to" name="to" value={to} list="names" autocomplete="off" required />
      </div>
      <datalist id="names">
        {names.map((name) => <option value={name} />)}
      </datalist>
      <button type="submit">Compare</button>
    </form>
  );
}

/** The two ways to compare; one is enough if nothing happened on the side of `from`. */
function Ways({ visit, compared, from, to }: Sides & {
  readonly visit: Visit;
  readonly compared: Comparison;
}) {
  const { ahead, behind } = compared;
  return (
    <div class="list-tools">
      <p class="soft compare-words">
        <b>{shortName(to)}</b> is {ahead.toLocaleString("en")} ahead of and{" "}
        {behind.toLocaleString("en")} behind <b>{shortName(from)}</b>.
      </p>
      {behind > 0 && (
        <Segments
          label="Way to compare"
          links={[
            {
              to: linkWith(visit, { view: undefined }),
              words: "Since they parted",
              isCurrent: !isDirect(visit),
            },
            {
              to: linkWith(visit, { view: "direct" }),
              words: "Directly",
              isCurrent: isDirect(visit),
            },
          ]}
        />
      )}
    </div>
  );
}

/** The check-ins of the one side alone. */
function Checkins({ project, compared: { checkins, ahead } }: {
  readonly project: CodeProject;
  readonly compared: Comparison;
}) {
  if (checkins.length === 0) return null;
  const { visit, to } = project;
  return (
    <details class="more" open={ahead <= UNFOLDED}>
      <summary>{ahead === 1 ? "1 check-in" : `${ahead.toLocaleString("en")} check-ins`}</summary>
      <ul class="list">
        {checkins.map(({ uuid, comment, user, timestamp }) => (
          <li>
            <div class="row-title">
              <a href={to.checkin(uuid)}>{firstLine(comment).slice(0, 200)}</a>
            </div>
            <div class="meta">
              <CheckinLink to={to} uuid={uuid} />
              <AccountName {...{ visit, project }} name={user} />
              <Time at={timestamp} />
            </div>
          </li>
        ))}
      </ul>
      {ahead > checkins.length && (
        <p class="soft small">and {(ahead - checkins.length).toLocaleString("en")} older ones</p>
      )}
    </details>
  );
}
