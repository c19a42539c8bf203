import type { Selectable } from "kysely";
import type { Tables } from "../../engines/database/mod.ts";
import type { ProjectRole, Visibility } from "../../people/identity/mod.ts";
import { type OwnSettings, settingsOf } from "./settings.ts";

/** A project as services pass it around. */
export interface Project {
  /** Identifies the project in other tables. A later project with the same slug has another id. */
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly visibility: Visibility;
  /** The IRC channel for its events; empty for none, null for the default. */
  readonly channel: string | null;
  readonly settings: OwnSettings;
  /** Unix milliseconds, like all times here. */
  readonly createdAt: number;
  readonly archivedAt: number | null;
  /** The node with its repository; null if the server is alone. */
  readonly home: string | null;
}

/** A project as the API shows it. */
export interface ProjectView extends OwnSettings {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly visibility: Visibility;
  readonly star_count: number;
  readonly channel: string;
  readonly created_at: string;
  readonly archived: boolean;
  /** The node with its repository; absent if the server is alone. */
  readonly node?: string;
}

/** A member as the API shows it. */
export interface Member {
  readonly name: string;
  readonly kind: "agent" | "person" | "admin";
  readonly role: ProjectRole;
}

/** A project with the data that every request needs. */
export interface HeldProject {
  project: Project;
  /** Roles by the account's internal id. */
  readonly members: Map<string, ProjectRole>;
  readonly stars: Set<string>;
}

export function projectOf(row: Selectable<Tables["projects"]>): Project {
  const { id, slug, name, description, visibility, channel, home } = row;
  return {
    id,
    slug,
    name,
    description,
    visibility,
    channel,
    settings: settingsOf(row.settings),
    createdAt: row.created_at,
    archivedAt: row.archived_at,
    home,
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
    ...project.home === null ? {} : { node: project.home },
    ...project.settings,
  };
}
