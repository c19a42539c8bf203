import { Download } from "lucide-static";
import type { Release } from "../../../services/work/releases/mod.ts";
import { listReleases } from "../../../services/work/releases/operations.ts";
import { anchorOfRelease } from "../../addresses.ts";
import { definePage, type View } from "../../page.ts";
import { sizeOf } from "../../parts/code.tsx";
import { CheckinLink } from "../../parts/files.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { PublicHead } from "../../parts/public_head.tsx";
import { ThreadProse, threadTexts } from "../../parts/thread_texts.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import { type Visit, withQuery } from "../../visit.ts";
import { create, DraftForms, drop, NewRelease, publish } from "./release_forms.tsx";

/** The releases of a project with their notes and files. */
export const page = definePage({
  opens: "anybody",
  show,
  json: () => "/api/releases",
  actions: { create, publish, drop },
  keeps: ["create"],
});

const PER_PAGE = 10;

async function show(visit: Visit): Promise<View> {
  const project = new CodeProject(visit);
  const { releases } = await visit.invoke(project.slug, listReleases, {});
  const pages = Math.max(1, Math.ceil(releases.length / PER_PAGE));
  const page = Math.min(visit.pageNumber, pages);
  const alone = visit.query("tag");
  const shown = alone === undefined
    ? releases.slice((page - 1) * PER_PAGE, page * PER_PAGE)
    : releases.filter(({ tag_name }) => tag_name === alone);
  const notes = await threadTexts(
    visit,
    project.open,
    shown.map(({ body: text }) => ({ text, mimetype: "text/x-markdown" })),
  );
  const body = (
    <>
      <h1>Releases</h1>
      {project.open.mayWrite && <NewRelease project={project} />}
      {shown.length === 0
        ? (
          <Empty>
            There are no releases yet. A release is a tag with notes and files.
          </Empty>
        )
        : shown.map((release, index) => (
          <section class="card release" id={anchorOfRelease(release.tag_name)}>
            <ReleaseHead {...{ project, release }} />
            <ThreadProse
              text={notes[index]}
              alone={withQuery(visit.url.pathname, { tag: release.tag_name })}
              level={3}
            />
            <Assets {...{ project, release }} />
            {release.is_draft && project.open.mayWrite && (
              <DraftForms visit={visit} tag={release.tag_name} />
            )}
          </section>
        ))}
      <Pager visit={visit} page={page} pages={pages} />
    </>
  );
  return {
    title: `Releases · ${project.view.name}`,
    body,
    project: project.place("releases"),
    head: <PublicHead project={project} title={`Releases · ${project.view.name}`} />,
  };
}

interface ReleaseProps {
  readonly project: CodeProject;
  readonly release: Release;
}

function ReleaseHead({ project: { to }, release }: ReleaseProps) {
  const { tag_name: tag, name, published_at, created_at } = release;
  return (
    <>
      <div class="page-head">
        <h2>{name || tag}</h2>
        <span class="row">
          {release.is_draft && <span class="badge warn">draft</span>}
          {release.is_prerelease && <span class="badge">prerelease</span>}
        </span>
      </div>
      <p class="soft small">
        <a href={to.tree(release.checkin_uuid)}>{tag}</a>{" "}
        <CheckinLink to={to} uuid={release.checkin_uuid} /> {release.author},{" "}
        <Time at={published_at ?? created_at} />
      </p>
    </>
  );
}

function Assets({ project: { to }, release }: ReleaseProps) {
  const { tag_name: tag, checkin_uuid: uuid, assets } = release;
  return (
    <ul class="assets">
      {assets.map(({ name, file_size_bytes: size, download_count: count }) => (
        <li>
          <Icon svg={Download} /> <a href={to.asset(tag, name)} download>{name}</a>{" "}
          <span class="soft small">
            {sizeOf(size)}, {count === 1 ? "1 download" : `${count} downloads`}
          </span>
        </li>
      ))}
      <li>
        <Icon svg={Download} /> Source: <a href={to.archive(uuid, "zip")}>{tag}.zip</a>,{" "}
        <a href={to.archive(uuid, "tar.gz")}>{tag}.tar.gz</a>
      </li>
    </ul>
  );
}
