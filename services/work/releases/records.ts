import type { Selectable } from "kysely";
import type { Change, Database, Tables } from "../../engines/database/mod.ts";
import { NotFound } from "../../kernel/errors.ts";
import type { Origin } from "../../engines/events/mod.ts";
import type { Caller } from "../../people/identity/mod.ts";
import {
  type Actor,
  type Project,
  projectEvent,
  type ProjectRepositories,
} from "../projects/mod.ts";
import type { Asset, Release } from "./schemas.ts";

export interface ReleasesOptions {
  readonly database: Database;
  readonly repositories: Pick<
    ProjectRepositories,
    "answers" | "read" | "write" | "intentions" | "longFiles"
  >;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Who asks for a change. */
export interface ReleaseRequest {
  readonly caller: Caller;
  readonly actor: Actor;
}

export type Row = Selectable<Tables["releases"]>;

/** Who made a change, and when. */
export interface By {
  readonly origin: Origin;
  readonly time: number;
}

export function viewOf(row: Row, assets: readonly Asset[]): Release {
  const { tag_name, name, body, checkin, author_name, created_at, published_at } = row;
  return {
    tag_name,
    name,
    body,
    is_prerelease: row.is_prerelease === 1,
    is_draft: row.is_draft === 1,
    author: author_name,
    created_at: new Date(created_at).toISOString(),
    published_at: published_at === null ? null : new Date(published_at).toISOString(),
    checkin_uuid: checkin,
    assets,
  };
}

/** What the names of unversioned files of releases begin with. */
export const RELEASES_FOLDER = "releases/";

/** The name of the unversioned file that holds a release's file. */
export function fileOf(tag: string, name: string): string {
  return `${RELEASES_FOLDER}${tag}/${name}`;
}

export function noSuchRelease(tag: string): NotFound {
  return new NotFound(`There is no release "${tag}"`);
}

export function noSuchAsset(name: string): NotFound {
  return new NotFound(`The release has no file "${name}"`);
}

/** The event of a change. Every reader sees events, but must not see drafts. */
export function eventsOf(
  project: Project,
  { tag_name, name, is_draft }: Row,
  status: string,
  by: By,
): NonNullable<Change["events"]> {
  if (is_draft === 1) return [];
  return [projectEvent(project, "project.release", { tag_name, name, status }, by)];
}

/** @throws NotFound */
export async function findRow(
  { tables }: Database,
  project: Pick<Project, "id">,
  tag: string,
): Promise<Row> {
  const row = await tables.selectFrom("releases").selectAll()
    .where("project_id", "=", project.id).where("tag_name", "=", tag).executeTakeFirst();
  if (row === undefined) throw noSuchRelease(tag);
  return row;
}
