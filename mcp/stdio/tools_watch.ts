/** Tells a client that the tools it may call have changed. */
import { isRecord } from "../json_rpc.ts";
import { OLDEST_REVISION } from "../revisions.ts";
import { TOOLS_MARK } from "../tools_mark.ts";

const CHANGED = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };

/** Compares the marks of the answers that one client gets. */
export class ToolsWatch {
  #mark: string | null = null;
  #isDeclared = false;
  /** Whether the client's list is not the server's own answer. */
  #isGuessed = false;

  /** Whether the client knows that there may be notifications. */
  get isDeclared(): boolean {
    return this.#isDeclared;
  }

  /** Asks for the mark. */
  ask(headers: Headers): void {
    headers.set(TOOLS_MARK, "?");
  }

  /**
   * Declares the notifications in the answer to `initialize`, also those about resources. The contract
   * fixes what clients of the oldest revision get.
   */
  declare(answer: unknown, revision: string | null): unknown {
    const result = isRecord(answer) ? answer.result : undefined;
    const capabilities = isRecord(result) ? result.capabilities : undefined;
    if (!isRecord(answer) || !isRecord(result) || !isRecord(capabilities)) return answer;
    if (revision === null || revision === OLDEST_REVISION) return answer;
    this.#isDeclared = true;
    const { resources } = capabilities;
    const declared = {
      ...capabilities,
      tools: { listChanged: true },
      ...isRecord(resources) ? { resources: { ...resources, subscribe: true } } : {},
    };
    return { ...answer, result: { ...result, capabilities: declared } };
  }

  /** Notes that the client got a list without the server, so that it asks again when the server is back. */
  guess(): void {
    this.#isGuessed = true;
  }

  /** The notification that a response calls for; null if the tools are the same. */
  changeIn({ headers }: Response): object | null {
    const mark = headers.get(TOOLS_MARK);
    const before = this.#mark;
    if (mark === null) return null;
    const hasChanged = this.#isGuessed || before !== null && before !== mark;
    this.#mark = mark;
    this.#isGuessed = false;
    return hasChanged && this.#isDeclared ? CHANGED : null;
  }
}
