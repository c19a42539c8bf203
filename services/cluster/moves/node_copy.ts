import { Unavailable } from "../../kernel/errors.ts";
import type { NodeClient } from "../nodes/mod.ts";
import type { NodeRecord } from "../../kernel/nodes.ts";
import type { Project } from "../../work/projects/mod.ts";
import { partOf, type Range } from "./changed_blocks.ts";
import type { PartSum } from "./arriving_copies.ts";

export interface NodeCopyOptions {
  readonly client: Pick<NodeClient, "ask">;
  readonly node: NodeRecord;
  readonly project: Project;
  /** Ends its requests. */
  readonly signal: AbortSignal;
}

/** The copy of a project on another node, which takes it with {@link ArrivingCopies}. */
export class NodeCopy {
  readonly #options: NodeCopyOptions;

  constructor(options: NodeCopyOptions) {
    this.#options = options;
  }

  begin(): Promise<void> {
    return this.#ask("POST", "");
  }

  /** Sends ranges of a file as pieces of a part. */
  async send(name: string, path: string, ranges: readonly Range[]): Promise<void> {
    for (const range of ranges) {
      const body = ReadableStream.from(partOf(path, range));
      await this.#ask("PUT", `/${name}?offset=${range.offset}`, body);
    }
  }

  verify(): Promise<void> {
    return this.#ask("POST", "/verify");
  }

  finish(sums: readonly PartSum[]): Promise<void> {
    return this.#ask("POST", "/finish", JSON.stringify(sums));
  }

  drop(): Promise<void> {
    return this.#ask("DELETE", "");
  }

  /** @throws Unavailable if the node refuses */
  async #ask(
    method: string,
    path: string,
    body: string | ReadableStream<Uint8Array> | null = null,
  ): Promise<void> {
    const { client, node, project, signal } = this.#options;
    const target = `/internal/copies/${project.slug}${path}`;
    const response = await client.ask(node, { method, target, body, signal });
    if (response.ok) return void await response.body?.cancel();
    const text = await response.text().catch(() => "");
    throw new Unavailable(`The node "${node.name}" refuses the copy: ${reasonIn(text)}`);
  }
}

/** The reason in the body of a refusal. */
function reasonIn(body: string): string {
  try {
    return String(JSON.parse(body).error);
  } catch {
    return "it does not say why";
  }
}
