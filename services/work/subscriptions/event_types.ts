/** The events to which programs subscribe, and who sees them. */
import type { LoggedEvent, ProjectEventName } from "../../engines/events/mod.ts";
import { Forbidden, Invalid, NotFound } from "../../kernel/errors.ts";
import type { Principal } from "../../people/identity/mod.ts";
import { noticeOf } from "../feeds/mod.ts";
import { accessOf, type Projects } from "../projects/mod.ts";

/** Events that only admins of a project see, and not here. */
type Hidden = "member_changed" | "mirror_changed" | "secret_changed" | "webhook_changed";

/** What each type tells, by its name after `project.`. */
const ABOUT: Readonly<Record<Exclude<ProjectEventName, Hidden>, string>> = {
  accepted: "An operator accepted a repository file that lacks what the server had",
  archived: "The project was archived",
  attachment: "A file was attached to a ticket, a page or a note",
  changed: "The project's settings were changed",
  checkin: "There are new check-ins",
  claim: "Somebody claimed a ticket, or a claim ended",
  created: "The project was created",
  forum: "Somebody posted in the forum",
  imported: "A repository was imported",
  job: "A check on a runner waits, runs or has ended",
  landing: "A review joined the landing queue, is tested, landed or came back",
  moved: "The repository moved to another node",
  overlap: "Two workspaces began to conflict",
  protection_changed: "The rules of protected branches were changed",
  release: "A release was published or changed",
  removed: "The project was removed",
  review: "A review was opened, commented, approved, changed, merged or closed",
  rewound: "A mirror followed upstream, where history was rewritten",
  status: "CI reported the result of a check",
  strikes_forgotten: "A ticket is offered to agents again",
  tag: "Check-ins were tagged",
  technote: "A technical note was written",
  ticket: "A ticket was created or changed",
  ticket_field: "A custom field of tickets was defined or removed",
  unarchived: "The project was taken out of the archive",
  wiki: "A wiki page was changed",
  workspace: "A workspace was created, merged, abandoned, restored or taken over",
};

const PREFIX = "project.";

/** Events after which somebody may no longer see those of a project. */
const CHANGES_ACCESS = ["project.changed", "project.member_changed", "project.removed"];

/** A type of events. */
export interface EventType {
  /** As in the event log, such as `project.checkin`. */
  readonly name: string;
  /** What its events tell, as a sentence without its end. */
  readonly about: string;
}

/** Every type, by name. */
export const EVENT_TYPES: readonly EventType[] = Object.entries(ABOUT)
  .map(([name, about]) => ({ name: `${PREFIX}${name}`, about }));

/** What somebody subscribes to. */
export interface Interest {
  readonly name: string;
  /** Internal id of the project; null for all that the subscriber may read. */
  readonly project: string | null;
}

/** An event as subscribers get it. */
export interface Occurrence {
  /** Its number in the log. */
  readonly eventId: string;
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Whether subscribers see events, by their rights of the moment. */
export class EventRights {
  readonly #projects: Pick<Projects, "all" | "find" | "get">;

  constructor(projects: Pick<Projects, "all" | "find" | "get">) {
    this.#projects = projects;
  }

  /** Whether there may be events for a principal: it reads projects. */
  opens(principal: Principal): boolean {
    return principal.kind !== "guest" && principal.scopes.has("read");
  }

  /**
   * Reads what a subscription names.
   *
   * @param slug the project; absent for all that the principal may read
   * @throws NotFound if there is no such type of events; Forbidden if the principal reads no
   * projects; Invalid if it may not see the project
   */
  interest(name: string, slug: string | undefined, principal: Principal): Interest {
    if (!EVENT_TYPES.some((type) => type.name === name)) {
      throw new NotFound("There is no such type of events; events/list names all");
    }
    if (!this.opens(principal)) throw new Forbidden("Your credential does not read projects");
    if (slug === undefined) return { name, project: null };
    const held = this.#projects.find(slug);
    if (held === null || !accessOf(held, principal).may("read")) {
      throw new Invalid('"project" must be the slug of a project that you may see');
    }
    return { name, project: held.project.id };
  }

  /** Whether the subscriber may still get events of what it subscribed to. */
  holds({ project }: Interest, principal: Principal): boolean {
    return project === null ? this.opens(principal) : this.#reads(project, principal);
  }

  /** An event for a subscriber; null if it is not for this one. */
  occurrence(event: LoggedEvent, interest: Interest, principal: Principal): Occurrence | null {
    if (event.type !== interest.name) return null;
    const notice = noticeOf(event);
    if (notice === null || !this.#reads(notice.projectId, principal)) return null;
    if (interest.project !== null && interest.project !== notice.projectId) return null;
    const { seq, type: name, time: timestamp } = event;
    return { eventId: String(seq), name, timestamp, data: notice.data };
  }

  #reads(projectId: string, principal: Principal): boolean {
    const held = this.#projects.get(projectId);
    return held !== null && accessOf(held, principal).may("read");
  }
}

/** The types of events that a subscription has to follow. */
export function followedTypes({ name }: Interest): readonly string[] {
  return [...new Set([name, ...CHANGES_ACCESS])];
}
