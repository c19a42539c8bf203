import type { Forwarded, Forwarding } from "../http/mod.ts";
import { TooMany, Unavailable } from "../services/kernel/errors.ts";
import type { Principal } from "../services/people/identity/mod.ts";
import type { NodeRecord } from "../services/kernel/nodes.ts";
import { isRecord, RPC_ERROR } from "./json_rpc.ts";
import { readTaskId } from "./tasks.ts";

/** Most messages of a batch that are looked at; a longer one is refused later. */
const MAX_BATCH = 100;

/** A message of JSON-RPC, which may be anything. */
export type Message = Readonly<Record<string, unknown>>;

/** Decides which node answers a message. */
export interface CallPlacement {
  /** The other node that answers a message; null if this one does, or if this does not say. */
  nodeFor(message: Message, principal: Principal): NodeRecord | null;
}

export interface ForwardedCallsOptions {
  readonly forwarding: Pick<Forwarding, "forward">;
  /** The first that names a node decides. */
  readonly placements: readonly CallPlacement[];
}

/** A POST whose body has been read. */
export interface ReadPost extends Forwarded {
  readonly body: string;
  readonly principal: Principal;
  /** Answers one of its messages here. */
  answerHere(message: unknown): Promise<Response>;
}

/** A message about a task is placed as the call that began it. */
function callOf(message: Message): Message {
  const { method, params } = message;
  if (!String(method).startsWith("tasks/") || !isRecord(params)) return message;
  const key = readTaskId(String(params["taskId"]));
  if (key === null) return message;
  const input = key.slug === null ? {} : { slug: key.slug };
  return { method: "tools/call", params: { name: key.tool, arguments: input } };
}

/** Forwards messages to the nodes that can answer them. */
export class ForwardedCalls {
  readonly #options: ForwardedCallsOptions;

  constructor(options: ForwardedCallsOptions) {
    this.#options = options;
  }

  /**
   * Forwards a POST as it came, or each message of a batch for several nodes.
   *
   * @param parsed its body as JSON
   * @returns null if all of it is for this node
   * @throws Unavailable if the node does not answer, TooMany if it has no place for the caller
   */
  async answer(parsed: unknown, post: ReadPost): Promise<Response | null> {
    const messages = Array.isArray(parsed) ? parsed : [parsed];
    if (messages.length > MAX_BATCH) return null;
    const nodes = messages.map((message) => this.#nodeFor(message, post.principal));
    const [first = null] = nodes;
    const { forwarding } = this.#options;
    if (nodes.every((node) => node?.name === first?.name)) {
      return first === null ? null : await forwarding.forward(first, post);
    }
    const answers: unknown[] = [];
    for (const [index, message] of messages.entries()) {
      const answer = await this.#answerOne(message, nodes[index] ?? null, post);
      if (answer !== null) answers.push(answer);
    }
    if (answers.length === 0) return new Response(null, { status: 202 });
    return Response.json(answers);
  }

  #nodeFor(message: unknown, principal: Principal): NodeRecord | null {
    if (!isRecord(message)) return null;
    const placed = callOf(message);
    for (const placement of this.#options.placements) {
      const node = placement.nodeFor(placed, principal);
      if (node !== null) return node;
    }
    return null;
  }

  /** The answer to a message of a batch; null if it needs none. */
  async #answerOne(message: unknown, node: NodeRecord | null, post: ReadPost): Promise<unknown> {
    try {
      const { request, connection, principal } = post;
      const response = node === null
        ? await post.answerHere(message)
        : await this.#options.forwarding.forward(node, {
          request,
          connection,
          principal,
          body: JSON.stringify(message),
        });
      return response.status === 202 ? null : await response.json();
    } catch (error) {
      if (!(error instanceof Unavailable || error instanceof TooMany)) throw error;
      const { id = null } = isRecord(message) ? message : {};
      return { jsonrpc: "2.0", id, error: { code: RPC_ERROR.server, message: error.message } };
    }
  }
}
