import type { LoggedEvent } from "../events/mod.ts";
import { BoundedMap } from "../kernel/bounded_map.ts";
import type { Project, ReadsAnywhere } from "../projects/mod.ts";

/** Projects in memory. */
const MAX_PROJECTS = 1000;

/** Events after which the tips of a project's branches may be others. */
const MOVES = /^project\.(?:checkin|tag|imported|workspace|removed)$/;

/** The newest check-in of each open branch, in memory: each project is read once after a change. */
export class BranchTips {
  readonly #reads: Pick<ReadsAnywhere, "read">;
  readonly #tips = new BoundedMap<string, Promise<ReadonlySet<string>>>(MAX_PROJECTS);

  constructor(reads: Pick<ReadsAnywhere, "read">) {
    this.#reads = reads;
  }

  /** The ids of a project's tips; null if its repository cannot be read now. */
  async of(project: Project): Promise<ReadonlySet<string> | null> {
    const { id } = project;
    const known = this.#tips.get(id);
    if (known !== undefined) return await known;
    const read = this.#read(project);
    this.#tips.set(id, read);
    try {
      return await read;
    } catch {
      if (this.#tips.peek(id) === read) this.#tips.delete(id);
      return null;
    }
  }

  /** Forgets the tips of a project whose branches moved. */
  take({ type, data }: LoggedEvent): void {
    if (MOVES.test(type)) this.#tips.delete(String(data["project_id"]));
  }

  /** Forgets everything, because events may be missing. */
  clear(): void {
    this.#tips.clear();
  }

  async #read(project: Project): Promise<ReadonlySet<string>> {
    const branches = await this.#reads.read(project, (repository) => repository.branches());
    const open = branches.filter(({ status }) => status === "open");
    return new Set(open.map(({ last_uuid }) => last_uuid));
  }
}
