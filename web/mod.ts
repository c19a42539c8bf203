/**
 * The web pages: for people and admins in a browser. `table.ts` has the address of every page;
 * `pages/` a file per page; `parts/` what pages share; `elements/` what runs in the browser;
 * `styles/` how it looks.
 */
import type { Context } from "hono";
import type { Core } from "../routes/core.ts";
import type { AppEnv } from "../routes/environment.ts";
import { sameOrigin, SHARED_PATHS, wantsHtml } from "../routes/middleware/browsers.ts";
import { once } from "../routes/once.ts";
import { NotFound } from "../services/kernel/errors.ts";
import { mountStreams } from "./live/mod.ts";
import { mountRepository } from "./repository.ts";
import { PAGES, WITHOUT_FORMS } from "./table.ts";
import type { Surroundings } from "./visit.ts";

/** The address of an asset holds a hash of its content. */
const YEAR = "public, max-age=31536000, immutable";

/**
 * Adds the pages to the app of the API, whose request ids, access log and headers they share. The
 * pages and what they need are loaded at the first visit.
 *
 * @param core.sharedPages takes the pages at addresses that routes have too
 */
export function mountPages(
  { app, sharedPages, notFound }: Pick<Core, "app" | "sharedPages" | "notFound">,
  surroundings: Surroundings,
): void {
  const assets = once(async () => await (await import("./assets.ts")).readAssets());
  const loaded = once(async () => {
    const { Dispatch } = await import("./dispatch.tsx");
    return new Dispatch(surroundings, assets);
  });
  app.get("/assets/*", async (context) => {
    const asset = (await assets()).files.get(context.req.path);
    if (asset === undefined) {
      throw new NotFound("The page belongs to another version: load it again");
    }
    const headers = {
      "Content-Type": asset.type,
      "Cache-Control": YEAR,
      "Vary": "Accept-Encoding",
    };
    if (!takesGzip(context)) return context.body(asset.content, 200, headers);
    return context.body(asset.gzip(), 200, { ...headers, "Content-Encoding": "gzip" });
  });
  mountStreams(app, surroundings);
  mountRepository(app, surroundings);
  for (const [path, loader] of Object.entries(PAGES)) {
    const load = once(async () => (await loader()).page);
    const handle = async (context: Context<AppEnv>) => (await loaded()).answer(context, load);
    if (isShared(path)) sharedPages.set(path, handle);
    else app.get(path, handle);
    if (!WITHOUT_FORMS.has(path)) app.post(path, sameOrigin(), handle);
  }
  const api = new RegExp(`^/(v1|projects/[^/]+/${surroundings.services.config.projects.scm})(/|$)`);
  app.notFound(async (context) => {
    const isPage = context.req.method === "GET" && wantsHtml(context.req.raw) &&
      !api.test(context.req.path);
    if (!isPage) return notFound(context);
    const error = new NotFound(`There is no ${context.req.path} here`);
    return await (await loaded()).refuse(context, error);
  });
}

function isShared(path: string): boolean {
  return SHARED_PATHS.some((shared) => shared === path);
}

/** Whether a browser takes compressed answers (RFC 9110, 12.5.3). */
function takesGzip(context: Context<AppEnv>): boolean {
  const accepted = context.req.header("accept-encoding") ?? "";
  return /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/i.test(accepted);
}
