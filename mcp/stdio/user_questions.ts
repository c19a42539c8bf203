/** Asks the user of a client that knows `elicitation/create` (MCP 2025-06-18 and 2025-11-25). */
import { isRecord } from "../json_rpc.ts";
import { ELICITATION, showsForms } from "../user_forms.ts";
import { revisionIn } from "../revisions.ts";

/** The first revision with `elicitation/create`. */
const FIRST_REVISION = "2025-06-18";

/** Most questions that the user sees at once; to others, there is no reply. */
const MAX_OPEN = 8;

/** A form that the server wants the user to fill in. */
interface Form {
  readonly name: string;
  readonly params: unknown;
  readonly state: unknown;
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
    resolve?.(isRecord(message.result) ? message.result : { action: "cancel" });
    return resolve !== undefined;
  }

  /**
   * Asks the user for what the answer to a call wants.
   *
   * @param signal aborts when the call is cancelled
   * @returns the call with the reply; null if the answer wants nothing, or the call is cancelled
   */
  async goOn(call: unknown, answer: unknown, signal: AbortSignal): Promise<object | null> {
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
    if (this.#open.size >= MAX_OPEN) return repeated({ action: "cancel" });
    const id = `muster-question-${++this.#lastId}`;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const cancel = () => resolve(null);
    this.#open.set(id, resolve);
    signal.addEventListener("abort", cancel);
    await this.#write({ jsonrpc: "2.0", id, method: "elicitation/create", params: form.params });
    const reply = await promise;
    signal.removeEventListener("abort", cancel);
    this.#open.delete(id);
    return reply === null ? null : repeated(reply);
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
