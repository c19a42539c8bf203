import { Invalid, NotFound, Unavailable } from "../../kernel/errors.ts";
import type { PooledRepository, SearchOptions, SearchResult } from "../../engines/fossil/mod.ts";
import type { NodeCalls, NodeRecord } from "../../kernel/nodes.ts";
import type { Project } from "./records.ts";
import type { ProjectRepositories } from "./repositories.ts";
import type { SharedRead } from "./schemas.ts";

/** What can be read of repositories on other nodes too. */
export type SharedReads = Pick<PooledRepository, Exclude<SharedRead["operation"], "search">>;

export interface ReadsAnywhereOptions {
  readonly repositories: Pick<ProjectRepositories, "read" | "homes" | "indexes">;
  /** Null if the server is alone. */
  readonly client: NodeCalls | null;
}

/** Reads repositories wherever they are, for what is about several projects. */
export class ReadsAnywhere {
  readonly #options: ReadsAnywhereOptions;

  constructor(options: ReadsAnywhereOptions) {
    this.#options = options;
  }

  /**
   * Reads from a project's repository.
   *
   * @throws ServiceError; Unavailable if its node does not run
   */
  read<T>(project: Project, work: (repository: SharedReads) => Promise<T>): Promise<T> {
    const { repositories, client } = this.#options;
    const node = client === null ? null : repositories.homes.elsewhere(project);
    if (client === null || node === null) return repositories.read(project, work);
    const ask = (operation: SharedRead["operation"]) => async (...input: unknown[]) =>
      await this.#ask(client, { node, project }, { operation, input }) as never;
    return work({
      tickets: ask("tickets"),
      branches: ask("branches"),
      resolveTicket: ask("resolveTicket"),
    });
  }

  /**
   * Searches a project, and has its index updated if that is behind.
   *
   * @throws ServiceError; Unavailable if its node does not run; the reason of the signal
   */
  async search(
    project: Project,
    options: SearchOptions,
    signal?: AbortSignal,
  ): Promise<SearchResult> {
    const { repositories, client } = this.#options;
    const node = client === null ? null : repositories.homes.elsewhere(project);
    if (client !== null && node !== null) {
      const question: SharedRead = { operation: "search", input: [options] };
      return await this.#ask(client, { node, project }, question, signal) as SearchResult;
    }
    return await this.#searchHere(project, options, signal);
  }

  /** Answers what another node asks. */
  answer(
    project: Project,
    { operation, input }: SharedRead,
  ): Promise<unknown> {
    if (operation === "search") return this.#searchHere(project, input[0] as SearchOptions);
    return this.#options.repositories.read(project, (repository) => {
      const call = repository[operation] as (...input: readonly unknown[]) => Promise<unknown>;
      return call(...input);
    });
  }

  async #searchHere(
    project: Project,
    options: SearchOptions,
    signal?: AbortSignal,
  ): Promise<SearchResult> {
    const { repositories } = this.#options;
    const call = signal === undefined ? {} : { signal };
    const result = await repositories.read(
      project,
      (repository) => repository.search(options, call),
    );
    if (!result.is_complete) repositories.indexes.update(project);
    return result;
  }

  async #ask(
    client: NodeCalls,
    { node, project: { slug } }: { readonly node: NodeRecord; readonly project: Project },
    question: SharedRead,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const target = `/internal/reads/${slug}`;
    const body = JSON.stringify(question);
    const response = await client.ask(node, {
      method: "POST",
      target,
      body,
      ...signal === undefined ? {} : { signal },
    });
    const answer = await response.json().catch((cause: unknown) => {
      throw new Unavailable(`Node "${node.name}" has not answered to the end`, { cause });
    });
    if (response.ok) return answer;
    const message = String(answer.error);
    if (response.status === 404) throw new NotFound(message);
    throw response.status === 400 ? new Invalid(message) : new Unavailable(message);
  }
}
