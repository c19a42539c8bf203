import { accessOf, accessProject, type ProjectAccess } from "../services/work/projects/mod.ts";
import type { ProjectPlace } from "./page.ts";
import { type ProjectTab, tabOf } from "./parts/project_bar.tsx";
import type { Visit } from "./visit.ts";

/** The project of a page, and what the visitor may do in it. */
export interface OpenProject {
  readonly slug: string;
  /** The address of the project. */
  readonly base: string;
  readonly access: ProjectAccess;
  /** Whether the project takes changes from the visitor. */
  readonly mayWrite: boolean;
  /** Whether the project takes changes of its settings from the visitor. */
  readonly mayAdmin: boolean;
  /** The event stream of the project. */
  readonly live: string;
  /** Where a page stands in the project. */
  place(tab: ProjectTab): ProjectPlace;
}

/**
 * Finds the project of a page, so that the page offers only what the visitor may do. The routes and
 * services check the rights themselves.
 *
 * @throws NotFound if there is none or the visitor may not see it
 */
export function openProject(visit: Visit): OpenProject {
  const slug = visit.param("slug");
  return opened(visit, accessProject(visit.services.hosting.projects, slug, visit.principal));
}

/**
 * {@link openProject} for pages on which the server's admins manage every project, also one that
 * they are no member of.
 *
 * @throws NotFound
 */
export function openManagedProject(visit: Visit): OpenProject {
  if (!visit.isAdmin) return openProject(visit);
  const held = visit.services.hosting.projects.require(visit.param("slug"));
  return opened(visit, accessOf(held, visit.principal));
}

/**
 * The project below whose address a request is, so that a refusal keeps the way to its parts; null
 * for other pages, and if the visitor may not see the project.
 */
export function placeOfRefusal(visit: Visit): ProjectPlace | null {
  const [, slug = "", part = ""] = /^\/projects\/([^/]+)\/?([^/]*)/.exec(visit.url.pathname) ?? [];
  const held = visit.services.hosting.projects.find(slug);
  if (held === null) return null;
  const access = accessOf(held, visit.principal);
  return access.may("read") ? projectOf(visit, access).place(tabOf(part)) : null;
}

/** @throws Unavailable if the project is on another node */
function opened(visit: Visit, access: ProjectAccess): OpenProject {
  visit.services.hosting.repositories.homes.require(access.project);
  return projectOf(visit, access);
}

function projectOf({ isAdmin }: Visit, access: ProjectAccess): OpenProject {
  const { slug, name, visibility, archivedAt } = access.project;
  const isArchived = archivedAt !== null;
  const isManager = isAdmin || access.may("admin");
  return {
    slug,
    base: `/projects/${slug}`,
    access,
    mayWrite: access.may("write") && !isArchived,
    mayAdmin: access.may("admin") && !isArchived,
    live: `/live/projects/${slug}`,
    place: (tab) => ({ slug, name, visibility, tab, mayAdmin: isManager }),
  };
}
