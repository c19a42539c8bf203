import type { Selectable } from "kysely";
import type { Tables } from "../database/mod.ts";
import type { ProjectRole, Visibility } from "../identity/mod.ts";

/** A project as services pass it on. */
export interface Project {
  /** Everything that belongs to the project hangs on this; a later owner of the slug has another. */
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly visibility: Visibility;
  /** The IRC channel that it tells its events; empty for none, null for the usual one. */
  readonly channel: string | null;
  /** Unix milliseconds, as all times here. */
  readonly createdAt: number;
  readonly archivedAt: number | null;
}

/** A project as it is told to callers. */
export interface ProjectView {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly visibility: Visibility;
  readonly star_count: number;
  readonly channel: string;
  readonly created_at: string;
  readonly archived: boolean;
}

/** A member as it is told to callers. */
export interface Member {
  readonly name: string;
  readonly kind: "agent" | "person" | "admin";
  readonly role: ProjectRole;
}

/** A project with what is asked of it at every request. */
export interface HeldProject {
  project: Project;
  /** Roles by the account's internal id. */
  readonly members: Map<string, ProjectRole>;
  readonly stars: Set<string>;
}

export function projectOf(row: Selectable<Tables["projects"]>): Project {
  const { id, slug, name, description, visibility, channel } = row;
  return {
    id,
    slug,
    name,
    description,
    visibility,
    channel,
    createdAt: row.created_at,
    archivedAt: row.archived_at,
  };
}

export function viewOf({ project, stars }: HeldProject): ProjectView {
  const { slug, name, description, visibility } = project;
  return {
    slug,
    name,
    description,
    visibility,
    star_count: stars.size,
    channel: project.channel ?? `#project-${slug}`,
    created_at: new Date(project.createdAt).toISOString(),
    archived: project.archivedAt !== null,
  };
}
