import type { Database } from "../database/mod.ts";
import { BoundedMap } from "../kernel/bounded_map.ts";
import type { Project } from "../projects/mod.ts";
import type { ReviewStore } from "./store.ts";

/** Most projects whose number is remembered. */
const MAX_KEPT = 1000;

/** How many reviews of each project are open, remembered until one of its reviews changes. */
export class OpenReviewCounts {
  readonly #store: Pick<ReviewStore, "countOpen">;
  /** By the project's id. */
  readonly #known = new BoundedMap<string, Promise<number>>(MAX_KEPT);

  constructor(
    database: Pick<Database, "onAppended">,
    store: Pick<ReviewStore, "countOpen">,
  ) {
    this.#store = store;
    // Each change of a review is committed with an event. Null stands for events of other nodes.
    database.onAppended((_, events) => {
      if (events === null) return this.#known.clear();
      for (const { type, data } of events) {
        if (type === "project.review") this.#known.delete(String(JSON.parse(data).project_id));
      }
    });
  }

  async of({ id }: Pick<Project, "id">): Promise<number> {
    const known = this.#known.get(id);
    if (known !== undefined) return await known;
    const read = this.#store.countOpen(id);
    this.#known.set(id, read);
    try {
      return await read;
    } catch (error) {
      if (this.#known.peek(id) === read) this.#known.delete(id);
      throw error;
    }
  }
}
