/** Asks the user of a client that knows `elicitation/create` (MCP 2025-06-18 and 2025-11-25). */
import { isRecord } from "../json_rpc.ts";
import { ELICITATION, showsForms } from "../user_forms.ts";
import { revisionIn } from "../revisions.ts";
import { followsTasks } from "../tasks.ts";

/** The first revision with `elicitation/create`. */
const FIRST_REVISION = "2025-06-18";

/** Most questions that the user sees at once; to others, there is no reply. */
const MAX_OPEN = 8;

/** Where a message of the stateless revision has its client's capabilities. */
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/**
 * Whether a client looks for the stateless revision, where its forms would belong to tasks: nothing can
 * take such a form away, and who waits for it does not hear of an answer from elsewhere. With
 * `initialize`, a form is a request that is cancelled, so such a client gets that.
 */
export function losesForms(message: unknown): boolean {
  if (!isRecord(message) || message.method !== "server/discover") return false;
  const meta = isRecord(message.params) ? message.params._meta : undefined;
  const capabilities = isRecord(meta) ? meta[CAPABILITIES] : undefined;
  return showsForms(capabilities) && followsTasks(capabilities);
}

/** A form that the server wants the user to fill in. */
interface Form {
  readonly name: string;
  readonly params: unknown;
  readonly state: unknown;
}

/** A form that the user of the client sees. */
export interface ShownForm {
  /** The call again, to wait for an answer from elsewhere. */
  readonly waiting: object;
  /** The call with the user's answer; never, if they decline the form or nobody sees it. */
  readonly accepted: Promise<object>;
  /** Takes the form away, unless the user has replied. */
  close(): Promise<void>;
}

/** The questions that a client shows to its user. */
export class UserQuestions {
  readonly #open = new Map<string, (reply: unknown) => void>();
  readonly #write: (message: object) => Promise<void>;
  #isDeclared = false;
  #lastId = 0;

  /** @param write sends the client a message */
  constructor(write: (message: object) => Promise<void>) {
    this.#write = write;
  }

  /** Notes what a client says in `initialize`. */
  opened(message: unknown): void {
    const params = isRecord(message) && isRecord(message.params) ? message.params : {};
    this.#isDeclared = showsForms(params.capabilities);
  }

  /**
   * Tells the server that the user can be asked. Clients of the stateless revision say so
   * themselves.
   */
  offer(headers: Headers, message: unknown, revision: string | null): void {
    if (!this.#isDeclared || revision === null || revision < FIRST_REVISION) return;
    if (isRecord(message) && message.method === "tools/call" && revisionIn(message) === null) {
      headers.set(ELICITATION, "form");
    }
  }

  /** Whether a message is the client's reply to a question; it is then handled. */
  takes(message: unknown): boolean {
    if (!isRecord(message) || "method" in message || typeof message.id !== "string") return false;
    const resolve = this.#open.get(message.id);
    this.#open.delete(message.id);
    resolve?.(message.result);
    return resolve !== undefined;
  }

  /**
   * Shows the user the form that the answer to a call asks for; null if it asks for none. There is
   * nothing to show while {@link MAX_OPEN} forms are open: then only others reply.
   */
  async show(call: unknown, answer: unknown): Promise<ShownForm | null> {
    const form = formIn(answer);
    if (form === null || !isRecord(call) || !isRecord(call.params)) return null;
    const { params } = call;
    const repeated = (reply: unknown) => ({
      ...call,
      params: {
        ...params,
        inputResponses: { [form.name]: reply },
        requestState: form.state,
      },
    });
    const waiting = repeated({ action: "cancel" });
    const { promise: accepted, resolve } = Promise.withResolvers<object>();
    if (this.#open.size >= MAX_OPEN) return { waiting, accepted, close: () => Promise.resolve() };
    const id = `muster-question-${++this.#lastId}`;
    this.#open.set(id, (reply) => {
      if (isRecord(reply) && reply.action === "accept") resolve(repeated(reply));
    });
    await this.#write({ jsonrpc: "2.0", id, method: "elicitation/create", params: form.params });
    return { waiting, accepted, close: () => this.#close(id) };
  }

  async #close(id: string): Promise<void> {
    if (!this.#open.delete(id)) return;
    const params = { requestId: id, reason: "The question needs no answer here any more" };
    await this.#write({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  }
}

/** The form in the answer to a call; null if there is none. */
function formIn(answer: unknown): Form | null {
  const result = isRecord(answer) ? answer.result : undefined;
  if (!isRecord(result) || result.resultType !== "input_required") return null;
  const { inputRequests, requestState } = result;
  const [entry] = isRecord(inputRequests) ? Object.entries(inputRequests) : [];
  if (entry === undefined) return null;
  const [name, request] = entry;
  if (!isRecord(request) || !isRecord(request.params)) return null;
  // The mode came with a later revision than the method, and means what it is without.
  const { mode: _form, ...params } = request.params;
  return { name, params, state: requestState };
}
