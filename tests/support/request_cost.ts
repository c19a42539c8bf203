import { AsyncLocalStorage } from "node:async_hooks";
import type { TestServices } from "./services.ts";

/**
 * Counts what requests read, from the app database and from repositories. What else the program does
 * at the same time is not counted.
 */
export class RequestCost {
  readonly #requests = new AsyncLocalStorage<{ reads: number }>();

  constructor(services: TestServices) {
    const executor = services.database.tables.getExecutor();
    const execute = executor.executeQuery.bind(executor);
    executor.executeQuery = (...parameters) => {
      this.#charge();
      return execute(...parameters);
    };
    const { files } = services.hosting.repositories;
    const use = files.use.bind(files);
    files.use = (...parameters) => {
      this.#charge();
      return use(...parameters);
    };
  }

  /** Counts the reads of what is requested. */
  async of(request: () => Promise<unknown>): Promise<number> {
    const cost = { reads: 0 };
    await this.#requests.run(cost, request);
    return cost.reads;
  }

  #charge(): void {
    const cost = this.#requests.getStore();
    if (cost !== undefined) cost.reads++;
  }
}
