import type { LoggedEvent } from "../events/mod.ts";

const PREFIX = "project.";

/** Events that only admins of a project may see. */
const HIDDEN: ReadonlySet<string> = new Set([
  "member_changed",
  "mirror_changed",
  "webhook_changed",
]);

/** An event of a project as its streams and webhooks show it. */
export interface Notice {
  /** The number of the event in the log, which is the cursor everywhere. */
  readonly seq: number;
  /** Internal id of the project. */
  readonly projectId: string;
  /** The type without `project.`, such as `checkin` or `claim`. */
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Whether only admins of the project may see it. */
  readonly isHidden: boolean;
}

/**
 * Makes a notice of a logged event. It has the event's fields without internal ids. Fields for
 * which the contract and the upstream service use different names have both.
 *
 * @returns null for an event of no project
 */
export function noticeOf({ seq, type, time, actor, data }: LoggedEvent): Notice | null {
  const { project_id: projectId, ...fields } = data;
  if (!type.startsWith(PREFIX) || typeof projectId !== "string") return null;
  const name = type.slice(PREFIX.length);
  return {
    seq,
    projectId,
    name,
    time,
    data: { timestamp: time, ...bothNames(name, fields), actor },
    isHidden: HIDDEN.has(name),
  };
}

/** Adds fields under upstream's names, where those differ. */
function bothNames(
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { agent, ticket } = fields;
  return {
    ...(agent === undefined ? {} : { agent_id: agent }),
    ...(name === "claim" || name === "ticket" ? { ticket_uuid: ticket } : {}),
    ...fields,
  };
}
