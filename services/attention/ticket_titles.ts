import type { LoggedEvent } from "../events/mod.ts";
import { BoundedMap } from "../kernel/bounded_map.ts";
import type { Project, ReadsAnywhere } from "../projects/mod.ts";

/** Most titles in memory. */
const MAX_TITLES = 10_000;

/** A ticket of a project. */
export interface TicketKey {
  readonly project: Project;
  /** Its whole id. */
  readonly ticket: string;
}

/** Tickets of one project. */
interface Group {
  readonly project: Project;
  readonly ids: string[];
}

/** The titles of tickets, in memory: each is read once, and events renew it. */
export class TicketTitles {
  readonly #reads: Pick<ReadsAnywhere, "read">;
  readonly #titles = new BoundedMap<string, string>(MAX_TITLES);

  constructor(reads: Pick<ReadsAnywhere, "read">) {
    this.#reads = reads;
  }

  /**
   * The titles of tickets, in the same order; the id of a ticket that cannot be read. Costs one
   * read of each project with tickets that are not in memory.
   */
  async of(tickets: readonly TicketKey[]): Promise<readonly string[]> {
    const missing = new Map<string, Group>();
    for (const { project, ticket } of tickets) {
      if (this.#titles.peek(keyOf(project.id, ticket)) !== undefined) continue;
      const group = missing.get(project.id) ?? { project, ids: [] };
      group.ids.push(ticket);
      missing.set(project.id, group);
    }
    await Promise.all([...missing.values()].map((group) => this.#read(group)));
    return tickets.map(({ project, ticket }) =>
      this.#titles.get(keyOf(project.id, ticket)) ?? ticket.slice(0, 10)
    );
  }

  /** Renews the title of a ticket that changed. */
  take({ type, data }: LoggedEvent): void {
    if (type !== "project.ticket") return;
    const key = keyOf(String(data["project_id"]), String(data["ticket"]));
    if (this.#titles.peek(key) !== undefined) this.#titles.set(key, String(data["title"]));
  }

  /** Forgets everything, because events may be missing. */
  clear(): void {
    this.#titles.clear();
  }

  async #read({ project, ids }: Group): Promise<void> {
    try {
      const { tickets } = await this.#reads.read(
        project,
        (repository) => repository.tickets({ only: ids, limit: ids.length, offset: 0 }),
      );
      for (const { uuid, title } of tickets) this.#titles.set(keyOf(project.id, uuid), title);
    } catch {
      // The home page shows the id of a ticket whose repository cannot be read now.
    }
  }
}

function keyOf(projectId: string, ticket: string): string {
  return `${projectId} ${ticket}`;
}
