import { startProgram } from "../../tests/support/program.ts";
import type { Address, Login } from "../client/mod.ts";
import { inParallel } from "../parallel.ts";
import type { IrcServerKind, IrcServerProcess } from "./server.ts";

/**
 * The configuration that differs from the default: the limits that keep one client from doing what
 * the benchmark does on purpose. 0 turns a limit off.
 */
export const MUSTER_LIMITS = {
  MUSTER_IRC_LIMITS_ACCOUNT_LINES_PER_SECOND: "0",
  MUSTER_IRC_LIMITS_FLOOD_LINES_PER_SECOND: "0",
} as const;

/** How many requests run at the same time where many are made. */
const PARALLEL_REQUESTS = 32;

/** The whole program as its users run it: IRC, API and bridge. */
export class MusterProcess implements IrcServerProcess {
  readonly capabilities = ["server-time", "message-tags", "account-tag"];
  readonly #program: Awaited<ReturnType<typeof startProgram>>;

  private constructor(program: Awaited<ReturnType<typeof startProgram>>) {
    this.#program = program;
  }

  /** @param more environment variables that configure it */
  static async start(more: Readonly<Record<string, string>> = {}): Promise<MusterProcess> {
    const environment = { ...MUSTER_LIMITS, ...more };
    return new MusterProcess(await startProgram({ environment }));
  }

  get irc(): Address {
    return this.#program.irc;
  }

  get pid(): number {
    return this.#program.pid;
  }

  /** Where the API listens. */
  get api(): Address {
    const { hostname, port } = new URL(this.#program.api);
    return { hostname, port: Number(port) };
  }

  get token(): string {
    return this.#program.token;
  }

  /** Registers an agent for every nick. */
  async createLogins(nicks: readonly string[]): Promise<Login[]> {
    return await inParallel(nicks, PARALLEL_REQUESTS, async (nick) => {
      const response = await this.post("/v1/agents/register", { nick });
      const { credentials } = await response.json();
      return { nick, passphrase: credentials.passphrase };
    });
  }

  /**
   * Posts JSON to the API. The caller reads or cancels the body.
   *
   * @throws Error where the answer is no success
   */
  async post(path: string, body: unknown): Promise<Response> {
    const response = await fetch(this.#program.api + path, {
      method: "POST",
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) {
      throw new Error(`POST ${path} was answered ${response.status}: ${await response.text()}`);
    }
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
  }
}

export const MUSTER: IrcServerKind = { name: "muster", start: () => MusterProcess.start() };
