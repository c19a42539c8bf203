import type { ProjectEventTypes } from "./project_types.ts";

type Named<Type> = Type extends `project.${infer Name}` ? Name : never;

/** The name of a project's event in the repository API, such as `checkin`. */
export type ProjectEventName = Named<keyof ProjectEventTypes>;

/** Every name once: the type makes a missing or an unknown one an error. */
const NAMES: Readonly<Record<ProjectEventName, true>> = {
  accepted: true,
  archived: true,
  attachment: true,
  changed: true,
  checkin: true,
  claim: true,
  created: true,
  forum: true,
  imported: true,
  landing: true,
  member_changed: true,
  mirror_changed: true,
  moved: true,
  overlap: true,
  protection_changed: true,
  release: true,
  removed: true,
  review: true,
  status: true,
  strikes_forgotten: true,
  tag: true,
  technote: true,
  ticket: true,
  ticket_field: true,
  unarchived: true,
  webhook_changed: true,
  wiki: true,
  workspace: true,
};

/** The names of a project's events in the repository API. */
export const PROJECT_EVENT_NAMES: readonly string[] = Object.keys(NAMES);
