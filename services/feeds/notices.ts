import type { LoggedEvent } from "../events/mod.ts";

const PREFIX = "project.";

/** What readers of a project are not shown: it is for those who manage the project. */
const HIDDEN: ReadonlySet<string> = new Set(["member_changed", "webhook_changed"]);

/** An event of a project as its streams and webhooks show it. */
export interface Notice {
  /** The number of the event in the log, which is the cursor everywhere. */
  readonly seq: number;
  /** Internal id of the project. */
  readonly projectId: string;
  /** Such as `checkin` or `claim`. */
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Whether readers of the project are not shown it. */
  readonly isHidden: boolean;
}

/**
 * A logged event as a notice. Its fields are those of the event, without internal ids, under both
 * names where the contract and the upstream service differ.
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

/** The fields, and under upstream's names those that it calls otherwise. */
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
