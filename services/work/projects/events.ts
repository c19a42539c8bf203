import type { NewEvent } from "../../engines/database/mod.ts";
import type { EventTypes, Origin } from "../../engines/events/mod.ts";
import type { ReceivedArtifact } from "../../engines/fossil/mod.ts";
import type { Project } from "./records.ts";

/** The types of the events of projects. */
export type ProjectEventType = Extract<keyof EventTypes, `project.${string}`>;

/** The data of an event, without its project. */
export type ProjectEventData<Type extends ProjectEventType> = Omit<
  EventTypes[Type],
  "project" | "project_id"
>;

/**
 * Makes the row of a project's event. Commit it in one transaction with the change.
 *
 * @param time Unix milliseconds
 */
export function projectEvent<Type extends ProjectEventType>(
  { id, slug }: Pick<Project, "id" | "slug">,
  type: Type,
  data: ProjectEventData<Type>,
  { origin, time }: { readonly origin: Origin; readonly time: number },
): NewEvent {
  const { actor, actorId, address, cause } = origin;
  return {
    time,
    type,
    actor,
    actorId,
    address,
    cause,
    data: { project: slug, project_id: id, ...data },
  };
}

/** The types of events that {@linkcode artifactEvent} makes; their data has the artifact's `uuid`. */
export const ARTIFACT_EVENTS: readonly ProjectEventType[] = [
  "project.checkin",
  "project.ticket",
  "project.wiki",
  "project.technote",
  "project.forum",
  "project.attachment",
  "project.tag",
];

/** The event for an artifact that a repository received. */
export function artifactEvent(
  project: Pick<Project, "id" | "slug">,
  artifact: ReceivedArtifact,
  { numbers, ...by }: {
    readonly origin: Origin;
    readonly time: number;
    readonly numbers: ReadonlyMap<string, number>;
  },
): NewEvent {
  const { uuid, user } = artifact;
  switch (artifact.kind) {
    case "checkin": {
      const { comment, branch, timestamp } = artifact;
      const data = { uuid, user, comment, branch, timestamp };
      return projectEvent(project, "project.checkin", data, by);
    }
    case "ticket": {
      const { ticket, title, status, closes, is_new, fields } = artifact;
      const ticket_number = numbers.get(ticket) ?? null;
      const data = { ticket, ticket_number, title, status, closes, user, uuid, is_new, fields };
      return projectEvent(project, "project.ticket", data, by);
    }
    case "wiki": {
      const { name, is_deleted } = artifact;
      return projectEvent(project, "project.wiki", { name, user, uuid, is_deleted }, by);
    }
    case "technote":
      return projectEvent(project, "project.technote", { name: artifact.name, user, uuid }, by);
    case "forum": {
      const thread = artifact.thread ?? uuid;
      return projectEvent(project, "project.forum", { thread, user, uuid }, by);
    }
    case "attachment": {
      const { name, target } = artifact;
      return projectEvent(project, "project.attachment", { name, target, user, uuid }, by);
    }
    case "tag": {
      const tags = artifact.tags.map(({ name, sign, target }) => ({ name, sign, target }));
      return projectEvent(project, "project.tag", { tags, user, uuid }, by);
    }
  }
}

/** The origin of an artifact that another program wrote. */
export function foreignOrigin(user: string): Origin {
  return { actor: `fossil:${user || "nobody"}`, actorId: null, address: null, cause: null };
}
