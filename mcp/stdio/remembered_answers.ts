/** What a client asks when it starts, answered while the server is away. */
import { isRecord } from "../json_rpc.ts";
import { agreedRevision, OLDEST_REVISION, revisionIn } from "../revisions.ts";
import { SERVER_INFO } from "../server_info.ts";

/** Keeps results by a key, from one run of the program to the next. */
export interface Memory {
  /** The result of a key; null if there is none. */
  read(key: string): object | null;
  keep(key: string, result: object): void;
}

/** The methods whose results depend on the caller and the revision alone. */
const METHODS: ReadonlySet<unknown> = new Set([
  "initialize",
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
]);

const UNKNOWN_YET = "muster does not answer now. Its tools appear once it does. Until then tell " +
  "your user, and go on with work that does not need it.";

/** The last answers of a server to what a client asks when it starts. */
export class RememberedAnswers {
  readonly #memory: Memory;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** Whether the server has answered such a message before. */
  has(message: unknown, revision: string | null): boolean {
    return this.#read(message, revision) !== null;
  }

  /** Keeps the server's answer, if it is the result of a method that clients start with. */
  keep(message: unknown, revision: string | null, answer: unknown): void {
    const key = keyOf(message, revision);
    const result = isRecord(answer) ? answer.result : undefined;
    if (key !== null && isRecord(result)) this.#memory.keep(key, result);
  }

  /**
   * The result in place of the server's: its last one, or what lets a client start without any.
   *
   * @param revision the agreed one; null before `initialize`
   * @returns null if only the server can say
   */
  resultOf(message: unknown, revision: string | null): object | null {
    if (!isRecord(message)) return null;
    const kept = this.#read(message, revision);
    return kept ?? (revisionIn(message) === null ? leastOf(message) : null);
  }

  #read(message: unknown, revision: string | null): object | null {
    const key = keyOf(message, revision);
    if (key === null) return null;
    const kept = this.#memory.read(key);
    if (!isRecord(message) || message.method !== "server/discover") return kept;
    // A client that only looks for a revision, and then uses an older one, has no tools of the new one.
    const tools = keyOf({ ...message, method: "tools/list" }, revision);
    return tools !== null && this.#memory.read(tools) !== null ? kept : null;
  }
}

/** The least that a client of a revision with `initialize` takes as an answer. */
function leastOf({ method, params }: Record<string, unknown>): object | null {
  if (method === "ping") return {};
  if (method === "tools/list") return { tools: [] };
  if (method !== "initialize") return null;
  const protocolVersion = agreedRevision(params);
  return {
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: SERVER_INFO,
    // The contract has none for the oldest revision.
    ...(protocolVersion === OLDEST_REVISION ? {} : { instructions: UNKNOWN_YET }),
  };
}

/** Null for what is not remembered. */
function keyOf(message: unknown, agreed: string | null): string | null {
  if (!isRecord(message) || !METHODS.has(message.method)) return null;
  const { method, params } = message;
  if (isRecord(params) && params.cursor !== undefined) return null;
  const revision = method === "initialize"
    ? agreedRevision(params)
    : revisionIn(message) ?? agreed ?? OLDEST_REVISION;
  return `${method} ${revision}`;
}
