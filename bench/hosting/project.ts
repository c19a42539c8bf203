import { join } from "node:path";
import { Repository, writeTicketChange } from "../../services/engines/fossil/mod.ts";
import { HttpClient } from "../client/mod.ts";
import { delay } from "../parallel.ts";
import { MusterProcess } from "../servers/mod.ts";
import type { Site } from "./exchange.ts";

const SLUG = "bench";
/** The base of the project's API. */
export const BASE = `/projects/${SLUG}/fossil`;
/** The agent that sends the requests. */
export const AGENT = "worker";

/** A muster that serves one project with many tickets. */
export class HostedProject implements Site, AsyncDisposable {
  readonly server: MusterProcess;
  /** The token of an agent with the right to write. */
  readonly token: string;
  readonly tickets: readonly string[];
  /** The start of the path of every request to the project's API. */
  readonly base = BASE;

  private constructor(server: MusterProcess, token: string, tickets: readonly string[]) {
    this.server = server;
    this.token = token;
    this.tickets = tickets;
  }

  /**
   * Starts a server, imports the project and waits until it is indexed.
   *
   * @param source the file to import (a repository, or a stream of `git fast-export`), and how many
   * tickets to add to the repository before the import
   * @param home the server's folder, if it is to stay
   */
  static async start(
    source: { readonly path: string; readonly tickets?: number },
    home?: string,
  ): Promise<HostedProject> {
    const folder = await Deno.makeTempDir({ prefix: "muster-bench-" });
    // One agent claims every ticket.
    const limits = { MUSTER_PROJECTS_CLAIMS_PER_AGENT: "1000000" };
    const server = await MusterProcess.start(limits, home);
    try {
      const path = join(folder, "source");
      await Deno.copyFile(source.path, path);
      await Deno.chmod(path, 0o600);
      const ids = source.tickets === undefined ? [] : addTickets(path, source.tickets);
      const call = (method: string, path: string, body: unknown) =>
        ask(server, method, path, JSON.stringify(body));
      await call("POST", "/v1/projects", { slug: SLUG, name: "Bench" });
      await ask(server, "PUT", `/v1/projects/${SLUG}/repository`, await Deno.readFile(path));
      await call("POST", "/v1/agents/register", { nick: AGENT });
      await call("PUT", `/v1/projects/${SLUG}/members/${AGENT}`, { role: "write" });
      const issued = await call("POST", "/v1/tokens", {
        owner: AGENT,
        name: "bench",
        scopes: ["read", "write"],
      });
      const project = new HostedProject(server, JSON.parse(issued).token, ids);
      while (!await project.#isIndexed()) await delay(1000);
      return project;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }

  /** Starts a server in the folder of an earlier one that has stopped, with its project. */
  static async resume(home: string, token: string): Promise<HostedProject> {
    return new HostedProject(await MusterProcess.start({}, home), token, []);
  }

  /** Whether searches find everything; until then they find less, or nothing. */
  async #isIndexed(): Promise<boolean> {
    const kinds = ["kind=code", ""].map((kind) => this.ask("GET", `/api/search?q=change&${kind}`));
    return (await Promise.all(kinds)).every((answer) => JSON.parse(answer).is_complete === true);
  }

  /** Lets everybody see the project. */
  async publish(): Promise<void> {
    await ask(this.server, "PATCH", `/v1/projects/${SLUG}`, '{"visibility":"public"}');
  }

  /** The project's URL for the `fossil` program, with the agent's login. */
  get syncUrl(): string {
    const { hostname, port } = this.server.api;
    return `http://${AGENT}:${this.token}@${hostname}:${port}${BASE}`;
  }

  /** Sends one request in the agent's name; returns the text of the response. */
  async ask(method: "GET" | "POST", path: string, body?: unknown): Promise<string> {
    using client = await HttpClient.open(this.server.api);
    const { token } = this;
    const request = HttpClient.format({ method, path: BASE + path, token, body });
    const { status, text } = await client.ask(request, true);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 200)}`);
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

/** Adds tickets in one transaction; returns their ids. */
function addTickets(path: string, count: number): string[] {
  using repository = Repository.open(path);
  const from = Date.parse("2026-01-01T00:00:00Z");
  return repository.write(
    { user: "bench", ip: null },
    () =>
      Array.from({ length: count }, (_, index) => {
        const fields = Object.entries({
          title: `Ticket ${index} of the bench`,
          status: "Open",
          type: "Code_Defect",
          priority: "Medium",
          comment: `What happens in case ${index}, in a sentence or two of text.`,
        }).map(([name, value]) => ({ name, value, append: false }));
        return writeTicketChange(repository, { user: "bench", date: from + index, fields }).ticket;
      }),
  );
}

async function ask(
  { api, token }: MusterProcess,
  method: string,
  path: string,
  body: BodyInit,
): Promise<string> {
  const response = await fetch(`http://${api.hostname}:${api.port}${path}`, {
    method,
    body,
    headers: { authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text;
}
