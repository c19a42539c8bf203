import type { z } from "zod";
import { shownText } from "../../../services/engines/fossil/front/mod.ts";
import * as wiki from "../../../services/work/wiki/operations.ts";
import type { pageSchema, wikiHistorySchema } from "../../../services/work/wiki/schemas.ts";
import { NotFound } from "../../../services/kernel/errors.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { MARKUPS } from "../../parts/choices.tsx";
import { ButtonForm, Form, Select, TextArea, TextField } from "../../parts/form.tsx";
import { Pager } from "../../parts/lists.tsx";
import { Preview, Prose, textPart } from "../../parts/prose.tsx";
import { Time } from "../../parts/time.tsx";
import { type OpenProject, openProject } from "../../project.ts";
import { type Visit, withQuery } from "../../visit.ts";
import { showDifference, showHistory } from "./history.tsx";

type WikiPage = z.output<typeof pageSchema>;
type WikiHistory = z.output<typeof wikiHistorySchema>;

/** A page of the wiki: read, edited with a preview, its history and the differences. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { save, preview: (visit) => edit(visit, true), remove },
  keeps: ["save", "preview"],
  json: (visit) => `/api/wiki/${encodeURIComponent(visit.param("name"))}`,
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  switch (visit.query("view")) {
    case "edit":
      return await edit(visit, false);
    case "history":
      return await showHistory(visit, project);
    case "diff":
      return await showDifference(visit, project);
    default:
      return await read(visit, project);
  }
}

/** The newest version of the page, or null if there is no such page. */
async function newest(visit: Visit, { slug }: OpenProject): Promise<WikiPage | null> {
  try {
    return await visit.invoke(slug, wiki.getWikiPage, { name: visit.param("name"), html: "false" });
  } catch (error) {
    if (error instanceof NotFound) return null;
    throw error;
  }
}

/** The newest versions of a page that is deleted; none if there never was such a page. */
async function deletion(visit: Visit, { slug }: OpenProject): Promise<WikiHistory["versions"]> {
  try {
    const query = { name: visit.param("name"), per_page: 1 };
    return (await visit.invoke(slug, wiki.getWikiHistory, query)).versions;
  } catch (error) {
    if (error instanceof NotFound) return [];
    throw error;
  }
}

async function read(visit: Visit, project: OpenProject): Promise<View> {
  const version = visit.query("version");
  const name = visit.param("name");
  const page = version === undefined
    ? await newest(visit, project)
    : await visit.invoke(project.slug, wiki.getWikiPage, { name, version, html: "false" });
  const [deleted] = page === null ? await deletion(visit, project) : [];
  const body = page === null
    ? <Missing {...{ visit, project, name, deleted }} />
    : await Shown({ visit, project, page, isOld: version !== undefined });
  return {
    title: name,
    body,
    project: project.place("wiki"),
    live: project.live,
    ...(page === null ? { status: 404 } : {}),
  };
}

function Missing({ visit, project, name, deleted }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly name: string;
  /** The version that deleted the page, if there was one. */
  readonly deleted: WikiHistory["versions"][number] | undefined;
}) {
  return (
    <>
      <h1>{shownText(name, "name")}</h1>
      {deleted === undefined ? <p>The wiki has no page of this name.</p> : (
        <p>
          <AccountName {...{ visit, project }} name={deleted.user} /> deleted this page{" "}
          <Time at={deleted.timestamp} />. Its history has what it said.
        </p>
      )}
      <p class="row">
        {deleted !== undefined && (
          <a class="button" href={`${visit.url.pathname}?view=history`}>History</a>
        )}
        {project.mayWrite && (
          <a class="button primary" href={`${visit.url.pathname}?view=edit`}>
            {deleted === undefined ? "Write it" : "Write it again"}
          </a>
        )}
        <a class="button" href={`${project.base}/wiki`}>All pages</a>
      </p>
    </>
  );
}

async function Shown({ visit, project, page, isOld }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly page: WikiPage;
  readonly isOld: boolean;
}) {
  const { pathname } = visit.url;
  const { text, part, parts } = textPart(page.content, visit.pageNumber);
  const source = { text, mimetype: page.mimetype };
  const html = await visit.services.hosting.texts.html(project.access.project, source);
  return (
    <>
      <div class="page-head">
        <h1>{shownText(page.name, "name")}</h1>
        <div class="row">
          <a class="button" href={`${project.base}/wiki`}>All pages</a>
          <a class="button" href={`${pathname}?view=history`}>History</a>
          {project.mayWrite && <a class="button" href={`${pathname}?view=edit`}>Edit</a>}
        </div>
      </div>
      {isOld && (
        <div class="notice">
          <p>
            This is an older version. <a href={pathname}>Show the newest one</a>
          </p>
        </div>
      )}
      <article data-live-part="page" data-live-on="wiki">
        <Prose html={html} />
        <Pager visit={visit} page={part} pages={parts} label="Parts of the page" />
        <p class="meta">
          <span>
            changed by <AccountName {...{ visit, project }} name={page.user} />{" "}
            <Time at={page.last_modified} />
          </span>
        </p>
      </article>
      {project.mayWrite && !isOld && (
        <details class="more">
          <summary>Delete this page</summary>
          <p>The page goes from the list. Its history stays.</p>
          <ButtonForm
            visit={visit}
            action="remove"
            values={{ parent: page.uuid }}
            label="Delete"
            look="danger"
          />
        </details>
      )}
    </>
  );
}

/**
 * The editor. If somebody changed the page meanwhile, saving is refused once; then the form follows
 * the newest version.
 */
async function edit(visit: Visit, isPreview: boolean): Promise<View> {
  const project = openProject(visit);
  project.access.require("write");
  const page = await newest(visit, project);
  const name = visit.param("name");
  const text = visit.entered("content", page?.content ?? "");
  const mimetype = visit.entered("mimetype", page?.mimetype ?? "text/x-markdown");
  const parent = visit.refusal === null ? visit.entered("parent", page?.uuid) : page?.uuid ?? "";
  const html = isPreview
    ? await visit.services.hosting.texts.html(project.access.project, { text, mimetype })
    : null;
  const body = (
    <>
      <h1>{page === null ? `New page: ${name}` : `Edit ${name}`}</h1>
      {page !== null && <Outdated visit={visit} page={page} />}
      {html !== null && <Preview html={html} />}
      <Form visit={visit} action="save" class="wide">
        <input type="hidden" name="parent" value={parent} />
        <TextArea
          visit={visit}
          name="content"
          label="Text"
          rows={20}
          value={page?.content ?? ""}
          required
        />
        <div class="field-grid">
          <Select
            visit={visit}
            name="mimetype"
            label="Markup"
            options={MARKUPS}
            value={mimetype}
          />
          <TextField
            visit={visit}
            name="comment"
            label="What you changed (optional)"
            maxlength={1000}
          />
        </div>
        <div class="row">
          <button class="primary" type="submit">Save</button>
          <button type="submit" name="action" value="preview">Preview</button>
          <a class="button" href={page === null ? `${project.base}/wiki` : visit.url.pathname}>
            Cancel
          </a>
        </div>
      </Form>
    </>
  );
  return { title: `Edit ${name}`, body, project: project.place("wiki") };
}

/** Says that the page has changed since the visitor began to edit it. */
function Outdated({ visit, page }: { readonly visit: Visit; readonly page: WikiPage }) {
  const parent = visit.entered("parent");
  if (visit.refusal === null || parent === page.uuid) return null;
  return (
    <div class="notice">
      <p>
        The page has changed since you began.{" "}
        <a href={withQuery(visit.url.pathname, { view: "diff", from: parent })}>See what changed</a>
        {" "}
        before you save: your text replaces it.
      </p>
    </div>
  );
}

async function save(visit: Visit): Promise<Leads> {
  const { slug } = openProject(visit);
  const parent = visit.entered("parent");
  const comment = visit.entered("comment");
  await visit.invoke(slug, wiki.writeWikiPage, {
    name: visit.param("name"),
    content: visit.entered("content").replaceAll("\r\n", "\n"),
    mimetype: visit.entered("mimetype"),
    parent: parent === "" ? null : parent,
    ...(comment === "" ? {} : { comment }),
  });
  return { to: visit.url.pathname, notice: "The page is saved." };
}

async function remove(visit: Visit): Promise<Leads> {
  const { slug, base } = openProject(visit);
  const [name, parent] = [visit.param("name"), visit.entered("parent")];
  await visit.invoke(slug, wiki.deleteWikiPage, { name, parent });
  return { to: `${base}/wiki`, notice: "The page is deleted." };
}
