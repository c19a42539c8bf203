import type { Context } from "hono";
import type { AppEnv } from "../context.ts";

/** What the page of a project shows. */
export interface ProjectPage {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  /** The command that clones the project. */
  readonly clone: string;
  /** The base of its API. */
  readonly api: string;
}

/**
 * Shows a project at the URL of its repository: JSON to programs, and one line to the
 * `fossil` program, which follows that URL when its user mistypes a command. Browsers are led to the
 * project's page.
 */
export function projectPage(context: Context<AppEnv>, page: ProjectPage): Response {
  context.header("Vary", "Accept, User-Agent");
  if (/^fossil\//i.test(context.req.header("user-agent") ?? "")) {
    return context.text(`Clone this project with: ${page.clone}\n`);
  }
  const accept = context.req.header("accept") ?? "";
  if (!accept.includes("text/html")) return context.json(page, 200);
  return context.redirect(`/projects/${page.slug}`, 303);
}
