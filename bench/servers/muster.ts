import { startProgram } from "../../tests/support/program.ts";
import type { Address, EventStream, Login } from "../client/mod.ts";
import {
  type CoordinationServer,
  type CoordinationServerKind,
  post,
  registerAgents,
} from "./coordination.ts";
import type { IrcServerKind, IrcServerProcess } from "./server.ts";

/**
 * The changed configuration: limits that would keep a client from doing what the benchmark does on
 * purpose. 0 turns a limit off.
 */
export const MUSTER_LIMITS = {
  MUSTER_IRC_LIMITS_ACCOUNT_LINES_PER_SECOND: "0",
  MUSTER_IRC_LIMITS_FLOOD_LINES_PER_SECOND: "0",
} as const;

/** The whole program as its users run it: IRC, API and bridge. */
export class MusterProcess implements IrcServerProcess, CoordinationServer {
  readonly beginsStreamsAtOnce = true;
  readonly capabilities = ["server-time", "message-tags", "account-tag"];
  readonly #program: Awaited<ReturnType<typeof startProgram>>;

  private constructor(program: Awaited<ReturnType<typeof startProgram>>) {
    this.#program = program;
  }

  /**
   * @param more environment variables that configure it
   * @param folder the working folder, which stays; by default a new one, which is removed at the end
   */
  static async start(
    more: Readonly<Record<string, string>> = {},
    folder?: string,
  ): Promise<MusterProcess> {
    const environment = { ...MUSTER_LIMITS, ...more };
    const place = folder === undefined ? {} : { folder };
    return new MusterProcess(await startProgram({ environment, ...place }));
  }

  /** Lets it finish its work and end. */
  async stop(): Promise<void> {
    const code = await this.#program.stop();
    if (code !== 0) throw new Error(`The server ended with code ${code}`);
  }

  get irc(): Address {
    return this.#program.irc;
  }

  get pid(): number {
    return this.#program.pid;
  }

  get pids(): readonly number[] {
    return [this.pid];
  }

  get api(): Address {
    return addressOf(this.#program.api);
  }

  get mcp(): Address {
    return addressOf(this.#program.mcp);
  }

  get token(): string {
    return this.#program.token;
  }

  streamOf(channel: string): EventStream {
    const { api: address, token } = this;
    return { address, path: `/v1/channels/${channel}/stream`, token };
  }

  createLogins(nicks: readonly string[]): Promise<Login[]> {
    return registerAgents(this, nicks);
  }

  /**
   * Posts JSON to the API. The caller reads or cancels the body.
   *
   * @throws Error if the request fails
   */
  post(path: string, body: unknown): Promise<Response> {
    return post(this, path, body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
  }
}

function addressOf(url: string): Address {
  const { hostname, port } = new URL(url);
  return { hostname, port: Number(port) };
}

export const MUSTER: IrcServerKind & CoordinationServerKind = {
  name: "muster",
  start: () => MusterProcess.start(),
};
