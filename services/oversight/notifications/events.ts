import type { EventTypes, LoggedEvent } from "../../engines/events/mod.ts";
import type { ProjectEventType } from "../../work/projects/mod.ts";

/** A logged event of a project with the data of its type. */
export type ProjectEvent = {
  [Type in ProjectEventType]: Omit<LoggedEvent, "type" | "data"> & {
    readonly type: Type;
    readonly data: EventTypes[Type];
  };
}[ProjectEventType];

/** A logged event as a project's event; null for other events. */
export function projectEventOf(event: LoggedEvent): ProjectEvent | null {
  return event.type.startsWith("project.") ? event as unknown as ProjectEvent : null;
}

/** Whether muster itself did it, at nobody's request. */
export function isByMuster({ actor, cause }: Pick<LoggedEvent, "actor" | "cause">): boolean {
  return actor === "operator" && cause === null;
}

/** Whether another program, such as `fossil`, did it in the file of the repository. */
export function isByOtherProgram({ actor }: Pick<LoggedEvent, "actor">): boolean {
  return actor.startsWith("fossil:");
}

/**
 * Whether the landing queue did it in the name of the actor who queued the review: no request is the
 * cause, and no other program wrote it.
 */
export function isOfLanding(event: Pick<LoggedEvent, "actor" | "cause">): boolean {
  return event.cause === null && !isByOtherProgram(event);
}

/** The name in an event's actor, such as `coder-1` of `agent:coder-1`. */
export function actorName({ actor }: Pick<LoggedEvent, "actor">): string {
  return actor.replace(/^[a-z]+:/, "");
}
