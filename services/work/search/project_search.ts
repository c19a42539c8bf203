import { Invalid, NotFound, Unavailable } from "../../kernel/errors.ts";
import type { EventLog } from "../../engines/events/mod.ts";
import type {
  SearchKind,
  SearchMatch,
  SearchOptions,
  SearchResult,
} from "../../engines/fossil/mod.ts";
import type { Principal } from "../../people/identity/mod.ts";
import {
  accessOf,
  type HeldProject,
  type Project,
  type Projects,
  type ReadsAnywhere,
} from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** Matches of one project in an answer. */
const MATCHES = 5;

/** Projects with matches in one answer. */
const MAX_FOUND = 20;

/** After so long, an answer begins no search of another project, in milliseconds. */
const TOTAL_TIME = 2000;

/** How long the search of one project may take, in milliseconds. */
const PROJECT_TIME = 1000;

export interface ProjectSearchOptions {
  readonly projects: Pick<Projects, "all">;
  readonly reads: Pick<ReadsAnywhere, "search">;
  readonly eventLog: Pick<EventLog, "lastOfProjects">;
  readonly scheduler: Pick<Scheduler, "steady" | "after">;
}

export interface SearchRequest {
  /** As in the search of one project. */
  readonly query: string;
  /** Every kind if absent. */
  readonly kind?: SearchKind | undefined;
  /** `next` of the answer that this one continues. */
  readonly after?: string | undefined;
}

/** What was found in one project. */
export interface FoundProject {
  readonly held: HeldProject;
  /** The best matches, whatever their kind. */
  readonly matches: readonly SearchMatch[];
  /** How many there are. */
  readonly total: number;
  /** Whether the whole project was searched. */
  readonly isComplete: boolean;
}

/** One answer of a search over projects. */
export interface Finding {
  /** Those with matches, the one with the newest event first. */
  readonly found: readonly FoundProject[];
  /** How many projects this answer covers. */
  readonly searched: number;
  /** The slugs of those that could not be searched in time, or not at all. */
  readonly unsearched: readonly string[];
  /** How many projects are left for further answers. */
  readonly left: number;
  /** From where the next answer continues; null if nothing is left. */
  readonly next: string | null;
}

/**
 * Searches projects one after the other, so that searches of others go on between them. An answer
 * has a limit of time; the next one continues where it ended.
 */
export class ProjectSearch {
  readonly #options: ProjectSearchOptions;

  constructor(options: ProjectSearchOptions) {
    this.#options = options;
  }

  /**
   * Searches the projects that a principal may read.
   *
   * @throws Invalid if the query is malformed
   */
  async search(principal: Principal, { query, kind, after }: SearchRequest): Promise<Finding> {
    const { scheduler } = this.#options;
    const readable = await this.#readable(principal);
    // An unknown slug starts from the beginning: its project may have been removed meanwhile.
    const rest = readable.slice(readable.findIndex(({ project: { slug } }) => slug === after) + 1);
    const options = { query, limit: MATCHES, ...kind === undefined ? {} : { kinds: [kind] } };
    const found: FoundProject[] = [];
    const unsearched: string[] = [];
    const end = scheduler.steady() + TOTAL_TIME;
    let searched = 0;
    for (const held of rest) {
      if (found.length === MAX_FOUND || (searched > 0 && scheduler.steady() >= end)) break;
      searched++;
      const result = await this.#searchOne(held.project, options);
      if (result === null) unsearched.push(held.project.slug);
      else if (result.total > 0 || !result.is_complete) {
        const { matches, total, is_complete: isComplete } = result;
        found.push({ held, matches, total, isComplete });
      }
    }
    const left = rest.length - searched;
    const last = rest[searched - 1]?.project.slug ?? null;
    return { found, searched, unsearched, left, next: left === 0 ? null : last };
  }

  /** The projects that a principal may read, the one with the newest event first. */
  async #readable(principal: Principal): Promise<readonly HeldProject[]> {
    const { projects, eventLog } = this.#options;
    const readable = projects.all().filter((held) => accessOf(held, principal).may("read"));
    if (readable.length < 2) return readable;
    const last = await eventLog.lastOfProjects();
    const newest = ({ project }: HeldProject) => last.get(project.id)?.seq ?? 0;
    return readable.toSorted((one, other) => newest(other) - newest(one));
  }

  /** Null if the project cannot be searched now, or not in time. */
  async #searchOne(project: Project, options: SearchOptions): Promise<SearchResult | null> {
    const { reads, scheduler } = this.#options;
    const controller = new AbortController();
    const stop = scheduler.after(PROJECT_TIME, () => controller.abort());
    try {
      return await reads.search(project, options, controller.signal);
    } catch (error) {
      const isAway = error instanceof Unavailable || error instanceof NotFound;
      if (isAway || controller.signal.aborted) return null;
      throw error;
    } finally {
      stop();
    }
  }
}

/** @throws Invalid if there is nothing to search for */
export function requireWords(q: string): string {
  if (q.trim() === "") throw new Invalid("Query parameter 'q' is required");
  return q;
}
