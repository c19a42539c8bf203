import { z } from "zod";
import type { ProjectApi, ProjectCall } from "../../routes/projects/project_api.ts";
import type { ToolContext } from "../tool.ts";
import { parseJson } from "../../services/validation/mod.ts";

/** The values of a query; undefined ones are absent. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Most entries on a page of the repository API. */
const PAGE = 100;

/** A part of a list: how many entries to skip, and how many to take. */
export interface Part {
  readonly offset: number;
  readonly limit: number;
}

/** Calls of the repository API of one project, in the name of a caller. */
export class ProjectCalls {
  readonly slug: string;
  readonly context: ToolContext;
  readonly #api: ProjectApi;

  constructor(api: ProjectApi, slug: string, context: ToolContext) {
    this.#api = api;
    this.slug = slug;
    this.context = context;
  }

  /** Calls an operation. */
  async invoke<Input extends z.ZodObject, Ok extends z.ZodType, New extends z.ZodType>(
    operation: Parameters<typeof ProjectApi.prototype.invoke<Input, Ok, New>>[1],
    input: z.input<Input>,
  ) {
    return await this.#api.invoke(this.slug, operation, input, this.context.caller);
  }

  /**
   * Reads JSON.
   *
   * @param _schema the schema of the route's answer, for its type
   * @param path from `/api/` on, without a query
   */
  async get<Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    query: Query = {},
  ): Promise<z.output<Schema>> {
    return await this.send(schema, { path: withQuery(path, query) });
  }

  /** Sends a request, and reads the JSON of its answer. */
  async send<Schema extends z.ZodType>(
    _schema: Schema,
    call: ProjectCall,
  ): Promise<z.output<Schema>> {
    const response = await this.#api.call(this.slug, call, this.context.caller);
    return parseJson(await response.text()) as z.output<Schema>;
  }

  /** Figures of the project's repository. */
  figures() {
    return this.#api.figures(this.slug, this.context.caller);
  }

  /**
   * Reads any part of a list that has pages.
   *
   * @param part what to read
   * @param read reads a page
   * @param entriesOf the entries in the answer
   * @returns the answer for the last page, and the entries of the part
   */
  async part<Answer extends { readonly total: number }, Entry>(
    { offset, limit }: Part,
    read: (page: { readonly page: number; readonly per_page: number }) => Promise<Answer>,
    entriesOf: (answer: Answer) => readonly Entry[],
  ): Promise<{ readonly answer: Answer; readonly entries: Entry[] }> {
    const size = offset % limit === 0 && limit <= PAGE ? limit : PAGE;
    const first = Math.floor(offset / size);
    const found: Entry[] = [];
    for (let page = first;; page++) {
      const answer = await read({ page: page + 1, per_page: size });
      const skipped = Math.max(0, offset - page * size);
      found.push(...entriesOf(answer).slice(skipped));
      const reached = (page + 1) * size;
      if (reached >= answer.total || reached >= offset + limit) {
        return { answer, entries: found.slice(0, limit) };
      }
    }
  }
}

/** A path with a query. */
export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]]
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
