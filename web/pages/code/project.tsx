import { Star } from "lucide-static";
import type { z } from "zod";
import { getCheckinStatus } from "../../../services/work/checks/operations.ts";
import * as code from "../../../services/work/code/operations.ts";
import type { timelineSchema } from "../../../services/work/code/schemas.ts";
import {
  getProject,
  starProject,
  unstarProject,
} from "../../../services/work/projects/operations.ts";
import type { projectSchema } from "../../../services/work/projects/schemas.ts";
import type { Release } from "../../../services/work/releases/mod.ts";
import { listReleases } from "../../../services/work/releases/operations.ts";
import { NotFound } from "../../../services/kernel/errors.ts";
import type { Statistics } from "../../../services/engines/fossil/mod.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { Copyable } from "../../parts/copy.tsx";
import {
  CheckinLink,
  firstLine,
  inOrder,
  Listing,
  type Names,
  readBranchesAndTags,
  readmeOf,
  Switcher,
  type Tree,
} from "../../parts/files.tsx";
import { ButtonForm } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty } from "../../parts/lists.tsx";
import { PublicHead } from "../../parts/public_head.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import type { Visit } from "../../visit.ts";
import type { Contributions } from "./contributors.tsx";
import { readmeBelow } from "./tree.tsx";

/** A project: its files at the tip of the main branch, and what it says of itself. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { star: (visit) => star(visit, true), unstar: (visit) => star(visit, false) },
  json: () => "/api/project",
});

/** Entries of the root that the page shows; the page of the tree has the rest. */
const MAX_ENTRIES = 200;

export interface ProjectFigures {
  readonly project: z.output<typeof projectSchema>;
  readonly tree: Tree | null;
  readonly names: Omit<Names, "named">;
  readonly releases: readonly Release[];
  readonly contributors: Contributions["contributors"];
  readonly newest: z.output<typeof timelineSchema>["checkins"][number] | undefined;
  readonly counts: Statistics;
  /** Whether the tip of the main branch has checks. */
  readonly isChecked: boolean;
}

async function show(visit: Visit): Promise<View> {
  const project = new CodeProject(visit);
  const figures = await read(project);
  const { tree } = figures;
  const checkin = figures.project.main_branch;
  const body = (
    <div class="columns">
      <div>
        <ProjectHead {...{ project, figures }} />
        <NoAgents project={project} />
        {tree === null || tree.entries.length === 0 ? <NoFiles project={project} /> : (
          <Listing
            {...{ project, checkin, tree }}
            entries={inOrder(tree.entries).slice(0, MAX_ENTRIES)}
          />
        )}
        {(tree?.entries.length ?? 0) > MAX_ENTRIES && (
          <p>
            <a href={project.to.tree(checkin)}>All {tree?.entries.length} entries</a>
          </p>
        )}
        {tree !== null && readmeOf(tree) !== undefined &&
          await readmeBelow(project, tree, checkin)}
      </div>
      <ProjectAside {...{ project, figures }} />
    </div>
  );
  return {
    title: project.view.name,
    body,
    project: project.place("code"),
    live: `/live/projects/${project.slug}`,
    head: <PublicHead project={project} />,
  };
}

async function read(project: CodeProject): Promise<ProjectFigures> {
  const { visit, slug } = project;
  const [shown, tree, names, { releases }, { contributors }, counts] = await Promise.all([
    project.invoke(getProject, {}),
    project.invoke(code.getTree, {}).catch((error) => {
      if (error instanceof NotFound) return null;
      throw error;
    }),
    readBranchesAndTags(project),
    project.invoke(listReleases, {}),
    project.invoke(code.listContributors, {}),
    visit.figures(slug),
  ]);
  const { checkins: [newest] } = await project.invoke(code.getTimeline, {
    branch: shown.main_branch,
    per_page: 1,
  });
  const { checks } = newest === undefined
    ? { checks: [] }
    : await visit.invoke(slug, getCheckinStatus, { checkin: newest.uuid });
  const isChecked = checks.length > 0;
  return {
    project: shown,
    tree,
    names,
    releases,
    contributors,
    newest,
    counts,
    isChecked,
  };
}

function ProjectHead({ project, figures }: {
  readonly project: CodeProject;
  readonly figures: ProjectFigures;
}) {
  const { newest, names, tree, project: { main_branch } } = figures;
  const { to } = project;
  return (
    <>
      <h1 class="hidden-text">{project.view.name}</h1>
      <div class="file-bar">
        <Switcher
          project={project}
          checkin={main_branch}
          names={{ ...names, named: null }}
          link={(name) => to.tree(name)}
        />
        {project.open.mayWrite && tree !== null && (
          <a class="button" href={to.newFile(main_branch, "")}>New file</a>
        )}
        {newest !== undefined && (
          <p class="newest" data-live-part="newest" data-live-on="checkin">
            <CheckinLink to={to} uuid={newest.uuid} />{" "}
            <span class="newest-comment">{firstLine(newest.comment).slice(0, 200)}</span>{" "}
            <span class="soft small">
              {newest.user}, <Time at={newest.timestamp} />
            </span>
          </p>
        )}
      </div>
    </>
  );
}

function NoFiles({ project }: { readonly project: CodeProject }) {
  return (
    <Empty>
      <p>There are no files yet.</p>
      <p>
        {project.open.mayWrite && "Make the first one with New file above, or clone"}
        {!project.open.mayWrite && "Clone"} the project, add files, and push:{" "}
        <code>fossil add .</code>, <code>fossil commit -m "First files"</code>.
      </p>
      {project.visit.session === null && (
        <p>To push, you need an account with the right to write.</p>
      )}
    </Empty>
  );
}

function ProjectAside({ project, figures }: {
  readonly project: CodeProject;
  readonly figures: ProjectFigures;
}) {
  const { to, view } = project;
  const { counts, names: { branchCount, tagCount }, releases, tree } = figures;
  const [latest] = releases.filter(({ is_draft }) => !is_draft);
  const checkin = figures.project.main_branch;
  // Without the empty check-in that begins a repository.
  const contributed = figures.contributors.reduce((sum, one) => sum + one.checkin_count, 0);
  return (
    <aside class="project-aside">
      <section class="card">
        <h2>About</h2>
        <p>{view.description === "" ? "No description." : view.description}</p>
        <ChannelLink project={project} />
        <StarButton project={project} />
        {view.archived && <p class="badge warn">archived: nothing can be changed</p>}
      </section>
      <section class="card">
        <h2>Clone</h2>
        <CloneLines project={project} />
        {tree !== null && (
          <p class="small">
            Download <a href={to.archive(checkin, "zip")}>.zip</a> or{" "}
            <a href={to.archive(checkin, "tar.gz")}>.tar.gz</a>
          </p>
        )}
      </section>
      <section class="card">
        <h2>Contents</h2>
        <dl class="figures">
          <Figure words="check-ins" count={contributed} to={to.at("/timeline")} />
          <Figure
            words="contributors"
            count={figures.contributors.length}
            to={to.at("/contributors")}
          />
          <Figure words="branches" count={branchCount} to={to.at("/branches")} />
          <Figure words="tags" count={tagCount} to={to.at("/tags")} />
          <Figure words="releases" count={releases.length} to={to.at("/releases")} />
          <Figure words="tickets" count={counts.ticket_count} to={to.at("/tickets")} />
          <Figure words="wiki pages" count={counts.wiki_page_count} to={to.at("/wiki")} />
          <Figure words="technotes" count={counts.technote_count} to={to.at("/technotes")} />
          <Figure words="forum posts" count={counts.forum_post_count} to={to.at("/forum")} />
        </dl>
        {figures.isChecked && (
          <p class="small">
            <img src={to.badge(checkin)} alt="State of the checks at the tip" height={20} />
          </p>
        )}
      </section>
      {latest !== undefined && (
        <section class="card">
          <h2>Latest release</h2>
          <p>
            <a class="strong" href={to.release(latest.tag_name)}>
              {latest.name || latest.tag_name}
            </a>
            <br />
            <span class="soft small">
              {latest.tag_name}, <Time at={latest.published_at ?? latest.created_at} />
            </span>
          </p>
        </section>
      )}
    </aside>
  );
}

/** The channel in which muster says what happens in the project, for those who may chat. */
function ChannelLink({ project: { visit, view } }: { readonly project: CodeProject }) {
  if (visit.session === null || view.channel === "") return null;
  return (
    <p>
      Talk about it in{" "}
      <a href={`/channels/${encodeURIComponent(view.channel.replace(/^#/, ""))}`}>{view.channel}</a>
    </p>
  );
}

/** The way to the first agent that works here, for those who can add one. */
function NoAgents({ project: { visit, to, access: { held } } }: { readonly project: CodeProject }) {
  if (!visit.isAdmin) return null;
  const members = visit.services.hosting.projects.members(held);
  if (members.some(({ kind }) => kind === "agent")) return null;
  return (
    <div class="notice">
      <p>
        No agent works here yet.{" "}
        <a href={to.at("/settings/members")}>Add one to the members</a>, and it can claim tickets
        and commit.
      </p>
    </div>
  );
}

function Figure({ words, count, to }: {
  readonly words: string;
  readonly count: number;
  readonly to: string;
}) {
  return (
    <div>
      <dt>
        <a href={to}>{words}</a>
      </dt>
      <dd>{count.toLocaleString("en")}</dd>
    </div>
  );
}

/** The commands that copy a project, by either door. */
function CloneLines({ project }: { readonly project: CodeProject }) {
  const { visit, slug, to } = project;
  const { kind, name } = visit.principal;
  const signedIn = kind === "guest" ? "NAME" : encodeURIComponent(name);
  const { isPublic, open: { mayWrite } } = project;
  // A clone without a name may not push.
  const isNamed = !isPublic || mayWrite;
  const origin = isNamed ? visit.origin.replace("://", `://${signedIn}@`) : visit.origin;
  return (
    <>
      <Copyable
        label="the command that clones the project with Git"
        text={`git clone ${origin}/projects/${slug}.git`}
      />
      <Copyable
        label="the command that clones the project with Fossil"
        text={`fossil clone ${origin}${to.repository} ${slug}.fossil`}
      />
      {isNamed && (
        <p class="small soft">
          {isPublic ? "" : `This project is ${project.view.visibility}. `}The password is a token.
        </p>
      )}
      {isNamed && visit.session !== null && (
        <p class="small">
          <a href="/account">Make a token</a> to clone{mayWrite ? " and push" : ""}
        </p>
      )}
    </>
  );
}

function StarButton({ project }: { readonly project: CodeProject }) {
  const { visit, access: { held, principal } } = project;
  const { star_count: count } = project.view;
  const words = `${count} ${count === 1 ? "star" : "stars"}`;
  if (principal.id === null) {
    return (
      <p class="soft small">
        <Icon svg={Star} /> {words}
      </p>
    );
  }
  const isStarred = held.stars.has(principal.id);
  const label = (
    <>
      <Icon svg={Star} /> {isStarred ? "Remove your star" : "Star"} ({count})
    </>
  );
  return <ButtonForm visit={visit} action={isStarred ? "unstar" : "star"} label={label} />;
}

async function star(visit: Visit, isStarred: boolean): Promise<Leads> {
  const { slug, to } = new CodeProject(visit);
  await visit.invoke(slug, isStarred ? starProject : unstarProject, {});
  return { to: to.home };
}
