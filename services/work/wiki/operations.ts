import { z } from "zod";
import { Conflict, TooSlow } from "../../kernel/errors.ts";
import type { WikiPage } from "../../engines/fossil/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { actorOf, type Project } from "../projects/mod.ts";
import { Created, operation, type OperationCall, RepositoryRead } from "../projects/operation.ts";
import { pageOf, pageParameters, rangeOf } from "../projects/schemas.ts";
import type { ProjectTexts } from "../texts/mod.ts";
import {
  pageListSchema,
  pageNameSchema,
  pageSchema,
  wikiConflictSchema,
  wikiDiffSchema,
  wikiEditSchema,
  wikiHistorySchema,
} from "./schemas.ts";
import type { Wikis, WikiWriter } from "./wikis.ts";

/** What the operations on wiki pages call. */
interface WikiServices {
  readonly hosting: { readonly wikis: Wikis; readonly texts: ProjectTexts };
  readonly accounts: Pick<AccountDirectory, "find" | "session">;
}

const versionId = z.string().regex(/^[0-9a-fA-F]{4,64}$/, { error: "must be the id of a version" });

const NAME = { description: "The page's name; slashes may be written as %2F" };
const byName = z.object({ name: z.string().meta(NAME) });
const aPage = z.string().meta({ description: "The page" });

const isStale = {
  error: Conflict,
  schema: wikiConflictSchema,
  description: "The page has changed",
};

function writerOf(
  { accounts }: WikiServices,
  { access, caller }: OperationCall,
  agentId?: string,
): WikiWriter {
  return { caller, actor: actorOf(access, agentId, accounts) };
}

export const listWikiPages = operation({
  http: "GET /api/wiki",
  needs: "read",
  mcp: {
    name: "list_wiki_pages",
    about: "Lists the wiki pages, the latest change first. Then get_wiki_page.",
    list: { field: "pages", noun: "pages", limit: 100 },
  },
  summary: "Every wiki page, the latest change first",
  input: z.object({}),
  ok: { schema: pageListSchema, description: "The pages" },
}, async ({ hosting }: WikiServices, _input, { project }) => {
  const found = await hosting.wikis.list(project);
  return { pages: found.map(({ is_deleted: _, ...page }) => page) };
});

export const getWikiPage = operation({
  http: "GET /api/wiki/{name}",
  hasSlashes: true,
  needs: "read",
  summary: "A wiki page",
  input: byName.extend({
    version: versionId.optional().meta({ description: "The id of an older version" }),
    html: z.enum(["true", "false"]).optional().meta({
      description: 'With "false", `content_html` is empty',
    }),
  }),
  ok: { schema: pageSchema, description: "The page" },
}, async ({ hosting }: WikiServices, { name, version, html }, { project }) => {
  const page = await hosting.wikis.page(project, name, version);
  return await shown(hosting.texts, project, page, html !== "false");
});

export const writeWikiPage = operation({
  http: "PUT /api/wiki/{name}",
  hasSlashes: true,
  needs: "write",
  mcp: {
    name: "write_wiki_page",
    about: "Writes a wiki page, a new one or a new version, with its whole content. Older " +
      "versions stay. Read the page first (get_wiki_page), so that you keep what others wrote.",
    takes: {
      page_name: "Its name",
      content: wikiEditSchema.shape.content.min(1).describe("All of it"),
      mimetype: "By default, the page's own, or text/x-markdown for a new page",
      comment: "What changed, for the timeline",
      parent: "The version that you edited: fails if there is a newer one",
    },
    names: { page_name: "name" },
    hides: ["content", "content_html"],
    advice: {
      notFound: "list_wiki_pages names the pages",
      conflict: "Read the page again with get_wiki_page and repeat your change",
    },
  },
  summary: "Write a wiki page",
  input: wikiEditSchema.extend({ name: pageNameSchema.meta(NAME) }),
  bodyName: "WikiEdit",
  example: { content: "# Home\n\nWelcome.", mimetype: "text/x-markdown" },
  ok: { schema: pageSchema, description: "Saved" },
  created: { schema: pageSchema, description: "Created" },
  refusals: [{ error: TooSlow }, isStale],
}, async (services: WikiServices, { name, agent_id, ...edit }, call) => {
  const { wikis, texts } = services.hosting;
  const { page, isNew } = await wikis.save(
    call.project,
    name,
    edit,
    writerOf(services, call, agent_id),
  );
  const view = await shown(texts, call.project, page, true);
  return isNew ? new Created(view) : view;
});

export const deleteWikiPage = operation({
  http: "DELETE /api/wiki/{name}",
  hasSlashes: true,
  needs: "write",
  summary: "Delete a wiki page; its history stays",
  input: byName.extend({
    parent: versionId.optional().meta({
      description: "The newest version that you know; 409 if there is a newer one",
    }),
  }),
  done: "Deleted",
  refusals: [isStale],
}, async (services: WikiServices, { name, parent }, call) => {
  await services.hosting.wikis.remove(call.project, name, parent, writerOf(services, call));
  return undefined;
});

export const getWikiHistory = operation({
  http: "GET /api/wiki-history",
  needs: "read",
  summary: "The versions of a wiki page, newest first",
  input: z.object({ ...pageParameters, name: aPage }),
  ok: { schema: wikiHistorySchema, description: "A page of versions" },
}, async ({ hosting }: WikiServices, { name, ...asked }, { project }) => {
  const versions = await hosting.wikis.history(project, name);
  const { limit, offset } = rangeOf(asked);
  const listed = versions.slice(offset, offset + limit);
  return { name, versions: listed, ...pageOf(asked, versions.length) };
});

export const getWikiDiff = operation(
  {
    http: "GET /api/wiki-diff",
    needs: "read",
    summary: "The differences between two versions of a wiki page",
    input: z.object({
      name: aPage,
      from: versionId.optional().meta({ description: "By default, the version before `to`" }),
      to: versionId.optional().meta({ description: "By default, the newest version" }),
    }),
    ok: { schema: wikiDiffSchema, description: "The differences" },
    isRead: true,
  },
  (_services, { name, from, to }) =>
    new RepositoryRead((repository) =>
      repository.json.wikiDiff({
        name,
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      })
    ),
);

/** A page as the API shows it. */
async function shown(
  texts: ProjectTexts,
  project: Project,
  { is_deleted: _, ...page }: WikiPage,
  hasHtml: boolean,
) {
  const { content: text, mimetype } = page;
  return { ...page, content_html: hasHtml ? await texts.html(project, { text, mimetype }) : "" };
}
