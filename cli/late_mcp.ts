import type { McpHandler, McpServices } from "../mcp/mod.ts";
import type { AccountDirectory } from "../services/people/identity/mod.ts";
import { inBackground } from "../services/kernel/sweep.ts";
import type { Log } from "../services/kernel/log.ts";
import type { Scheduler } from "../services/kernel/scheduler.ts";

/** Pause after the first agent was registered, so that the answer does not wait, in milliseconds. */
const PREPARE_AFTER = 1000;

/**
 * Prepares what only agents use: at once if there is an agent, otherwise soon after the first one is
 * registered.
 */
export async function prepareForAgents(
  { accounts, scheduler, log }: {
    readonly accounts: Pick<AccountDirectory, "counts" | "onChanged">;
    readonly scheduler: Pick<Scheduler, "after">;
    readonly log: Pick<Log, "error">;
  },
  prepare: () => Promise<void>,
): Promise<void> {
  if (accounts.counts("agent").active > 0) return await prepare();
  let isAsked = false;
  accounts.onChanged((_id, account) => {
    if (isAsked || account?.kind !== "agent") return;
    isAsked = true;
    scheduler.after(PREPARE_AFTER, () => inBackground(log, "load the tools", prepare));
  });
}

/**
 * The MCP server, which is loaded once there are agents, or by the first call: its schemas are many,
 * and neither the start nor a server without agents needs any.
 */
export class LateMcp {
  readonly #services: McpServices;
  readonly #listens: string;
  #loading: Promise<McpHandler> | null = null;

  /** @param listens the configured address of the listener */
  constructor(services: McpServices, listens: string) {
    this.#services = services;
    this.#listens = listens;
  }

  /** Answers a request, as the handler of MCP does. */
  async handle(...request: Parameters<McpHandler>): Promise<Response> {
    return await (await this.#load())(...request);
  }

  /** Loads and prepares what the first call would otherwise wait for. */
  async prepare(): Promise<void> {
    await (await this.#load()).prepare();
  }

  #load(): Promise<McpHandler> {
    return this.#loading ??= this.#create();
  }

  async #create(): Promise<McpHandler> {
    const { createMcpHandler } = await import("../mcp/mod.ts");
    return createMcpHandler(this.#services, this.#listens);
  }
}
