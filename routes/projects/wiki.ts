import {
  pageFields,
  pageOf,
  pageParameters,
  rangeOf,
  timestampSchema,
} from "../../services/projects/schemas.ts";
import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { WikiPage } from "../../services/fossil/mod.ts";
import { actorOf, type Project } from "../../services/projects/mod.ts";
import type { WikiWriter } from "../../services/wiki/mod.ts";
import { MIMETYPES, pageNameSchema, wikiEditSchema } from "../../services/wiki/schemas.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { errorSchema, json, jsonRequest } from "../schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";
import { wikiDiffRoutes } from "./wiki_diff.ts";

const refFields = {
  name: z.string(),
  uuid: z.string().openapi({ description: "The id of the version" }),
  last_modified: timestampSchema,
  user: z.string(),
};

export const pageSchema = z.object({
  ...refFields,
  mimetype: z.string().openapi({ description: `Usually ${MIMETYPES.join(", ")}` }),
  content: z.string(),
  content_html: z.string().openapi({
    description: "The content as HTML without scripts, styles, frames and forms",
  }),
}).openapi("WikiPage");

export const pageListSchema = z.object({
  pages: z.array(z.object(refFields).openapi("WikiPageRef")),
});

const versionSchema = z.object({
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  size: z.int().openapi({ description: "Length of the text in bytes" }),
  is_deletion: z.boolean(),
}).openapi("WikiVersion");

export const historySchema = z.object({
  name: z.string(),
  versions: z.array(versionSchema),
  ...pageFields,
}).openapi("WikiHistory");

const versionId = z.string().regex(/^[0-9a-fA-F]{4,64}$/, { error: "must be the id of a version" });
const NAME = { description: "The page's name; slashes may be written as %2F" };
const params = z.object({ name: z.string().openapi(NAME) });

const conflict = json(
  errorSchema.extend({
    uuid: z.string().nullable().optional().openapi({ description: "The newest version" }),
    user: z.string().nullable().optional(),
    last_modified: z.string().nullable().optional(),
  }).openapi("WikiConflict"),
  "The page has changed",
);

const listPages = projectRoute("GET /api/wiki", {
  summary: "Every wiki page, the latest change first",
  responses: {
    200: json(pageListSchema, "The pages"),
    ...projectErrors(),
  },
});

const getPage = projectRoute("GET /api/wiki/{name}", {
  summary: "A wiki page",
  request: {
    params,
    query: z.object({
      version: versionId.optional().openapi({ description: "The id of an older version" }),
      html: z.enum(["true", "false"]).optional().openapi({
        description: 'With "false", `content_html` is empty',
      }),
    }),
  },
  responses: { 200: json(pageSchema, "The page"), ...projectErrors(400) },
});

const putPage = projectRoute("PUT /api/wiki/{name}", {
  summary: "Write a wiki page",
  request: {
    params: z.object({ name: pageNameSchema.describe(NAME.description) }),
    body: jsonRequest(wikiEditSchema.meta({ id: "WikiEdit" }), {
      content: "# Home\n\nWelcome.",
      mimetype: "text/x-markdown",
    }),
  },
  responses: {
    200: json(pageSchema, "Saved"),
    201: json(pageSchema, "Created"),
    ...projectErrors(400, 408, 413),
    409: conflict,
  },
});

const deletePage = projectRoute("DELETE /api/wiki/{name}", {
  summary: "Delete a wiki page; its history stays",
  request: {
    params,
    query: z.object({
      parent: versionId.optional().openapi({
        description: "The newest version that you know; 409 if there is a newer one",
      }),
    }),
  },
  responses: { 204: { description: "Deleted" }, ...projectErrors(400), 409: conflict },
});

const getHistory = projectRoute("GET /api/wiki-history", {
  summary: "The versions of a wiki page, newest first",
  request: {
    query: z.object({ ...pageParameters, name: z.string().openapi({ description: "The page" }) }),
  },
  responses: {
    200: json(
      historySchema,
      "A page of versions",
    ),
    ...projectErrors(400),
  },
});

/** The route of a page for names with slashes, which the OpenAPI document cannot describe. */
function withSlashes<Route extends { readonly path: string }>(route: Route) {
  return { ...route, path: `${route.path}{[\\s\\S]+}` as Route["path"], hide: true as const };
}

/** `/api/wiki…`. */
export function wikiRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { hosting: { wikis, texts }, accounts } = services;
  const writerOf = (context: Context<AppEnv>, agentId?: string): WikiWriter => ({
    caller: callerOf(context),
    actor: actorOf(context.get("access"), agentId, accounts),
  });
  const shown = async (project: Project, { is_deleted: _, ...page }: WikiPage) => {
    const { content: text, mimetype } = page;
    return Object.assign(page, { content_html: await texts.html(project, { text, mimetype }) });
  };
  const routes = newRoutes()
    .route("/", wikiDiffRoutes(services))
    .openapi(listPages, async (context) => {
      const found = await wikis.list(context.get("access").project);
      const pages = found.map(({ is_deleted: _, ...page }) => page);
      return context.json({ pages }, 200);
    })
    .openapi(getHistory, async (context) => {
      const { name, page, per_page } = context.req.valid("query");
      const versions = await wikis.history(context.get("access").project, name);
      const asked = { page, per_page };
      const { limit, offset } = rangeOf(asked);
      const { total, total_pages } = pageOf(asked, versions.length);
      const shown = versions.slice(offset, offset + limit);
      return context.json({ name, versions: shown, total, page, per_page, total_pages }, 200);
    });
  for (const route of [getPage, withSlashes(getPage)]) {
    routes.openapi(route, async (context) => {
      const { name } = context.req.valid("param");
      const { version, html } = context.req.valid("query");
      const { project } = context.get("access");
      const page = await wikis.page(project, name, version);
      if (html === "false") {
        const { is_deleted: _, ...rest } = page;
        return context.json(Object.assign(rest, { content_html: "" }), 200);
      }
      return context.json(await shown(project, page), 200);
    });
  }
  for (const route of [putPage, withSlashes(putPage)]) {
    routes.openapi(route, async (context) => {
      const { agent_id, ...edit } = context.req.valid("json");
      const { name } = context.req.valid("param");
      const { project } = context.get("access");
      const { page, isNew } = await wikis.save(project, name, edit, writerOf(context, agent_id));
      return context.json(await shown(project, page), isNew ? 201 : 200);
    });
  }
  for (const route of [deletePage, withSlashes(deletePage)]) {
    routes.openapi(route, async (context) => {
      const { name } = context.req.valid("param");
      const { parent } = context.req.valid("query");
      const { project } = context.get("access");
      await wikis.remove(project, name, parent, writerOf(context));
      return context.body(null, 204);
    });
  }
  return routes;
}
