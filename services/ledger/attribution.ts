import { Invalid, NotFound } from "../errors.ts";
import type { Principal } from "../identity/mod.ts";
import { accessProject, type Project, type Projects } from "../projects/mod.ts";
import type { Claims, Tickets } from "../tickets/mod.ts";
import type { Work } from "./records.ts";

/** A ticket, with its project or without. */
const TICKET = /^(?:([a-z0-9][a-z0-9._-]{0,99})\/)?([0-9a-f]{4,40})$/i;

export interface AttributionOptions {
  readonly projects: Pick<Projects, "find" | "get" | "halts">;
  readonly claims: Pick<Claims, "heldBy">;
  readonly tickets: Pick<Tickets, "resolve">;
}

/** Finds the ticket that a call of a model is for. */
export class Attribution {
  readonly #options: AttributionOptions;

  constructor(options: AttributionOptions) {
    this.#options = options;
  }

  /**
   * The ticket that the caller names, else the one that it holds, if it holds a single one.
   *
   * @param named `PROJECT/TICKET`, or the ticket alone if the caller holds it; null for none
   * @throws Invalid, NotFound if there is no such ticket, or the caller may not read it
   */
  async workOf(principal: Principal, named: string | null): Promise<Work | null> {
    const held = this.#heldBy(principal);
    if (named === null) return held.length === 1 ? held[0] ?? null : null;
    const [, slug, start] = TICKET.exec(named.trim()) ?? [];
    if (start === undefined) {
      throw new Invalid('X-Muster-Ticket must be "PROJECT/TICKET", or a ticket that you hold');
    }
    const fitting = held.filter(({ project, ticket }) =>
      (slug === undefined || project === slug) && ticket.startsWith(start.toLowerCase())
    );
    if (fitting.length === 1) return fitting[0] ?? null;
    if (slug !== undefined) return await this.#find(principal, slug, start);
    throw new NotFound(
      fitting.length === 0
        ? `You hold no ticket "${start}": name it as PROJECT/TICKET in X-Muster-Ticket`
        : `You hold several tickets that begin with "${start}": name more of its id`,
    );
  }

  async #find(principal: Principal, slug: string, start: string): Promise<Work> {
    const { projects, tickets } = this.#options;
    const access = accessProject(projects, slug, principal);
    access.require("read");
    const { uuid } = await tickets.resolve(access.project, start);
    return workOn(access.project, uuid);
  }

  #heldBy({ id }: Principal): readonly Work[] {
    if (id === null) return [];
    const { claims, projects } = this.#options;
    return claims.heldBy(id).flatMap(({ projectId, ticket }) => {
      const project = projects.get(projectId)?.project;
      return project === undefined ? [] : [workOn(project, ticket)];
    });
  }
}

function workOn({ id, slug }: Project, ticket: string): Work {
  return { projectId: id, project: slug, ticket };
}
