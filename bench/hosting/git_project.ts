import { join } from "node:path";
import { delay } from "../parallel.ts";
import { familySeconds } from "../process_usage.ts";
import { MusterProcess } from "../servers/mod.ts";

const SLUG = "bench";
const AGENT = "worker";

/** How the names end of files that a project can make again. */
export type DerivedEnding = ".pack" | ".objects";

/** A muster that serves one project, which it has imported from a Git server. */
export class GitProject implements AsyncDisposable {
  readonly #home: string;
  readonly #token: string;
  #server: MusterProcess;

  private constructor(home: string, server: MusterProcess, token: string) {
    this.#home = home;
    this.#server = server;
    this.#token = token;
  }

  /**
   * Starts a server and imports a repository.
   *
   * @param home the folder of the server, which the caller removes
   */
  static async start(home: string, url: string): Promise<GitProject> {
    const server = await startIn(home);
    try {
      const call = async (method: string, path: string, body?: unknown) => {
        const { hostname, port } = server.api;
        const response = await fetch(`http://${hostname}:${port}${path}`, {
          method,
          headers: { authorization: `Bearer ${server.token}` },
          ...body !== undefined && { body: JSON.stringify(body) },
        });
        const text = await response.text();
        if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
        return JSON.parse(text);
      };
      await call("POST", "/v1/projects", { slug: SLUG, name: "Bench", visibility: "public" });
      await call("POST", "/v1/agents/register", { nick: AGENT });
      await call("PUT", `/v1/projects/${SLUG}/members/${AGENT}`, { role: "admin" });
      const scopes = ["read", "write"];
      const { token } = await call("POST", "/v1/tokens", { owner: AGENT, name: "bench", scopes });
      await call("POST", `/v1/projects/${SLUG}/import`, { url });
      for (let state = "running"; state !== "done"; await delay(200)) {
        const view = await call("GET", `/v1/projects/${SLUG}/import`);
        state = view.state;
        if (state === "failed") throw new Error(view.error);
      }
      const project = new GitProject(home, server, token);
      await project.settle();
      return project;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The URL for `git`, which everybody may read. */
  get url(): string {
    return this.#urlFor("");
  }

  /** The same with the login of who may push. */
  get pushUrl(): string {
    return this.#urlFor(`${AGENT}:${this.#token}@`);
  }

  #urlFor(login: string): string {
    const { hostname, port } = this.#server.api;
    return `http://${login}${hostname}:${port}/projects/${SLUG}.git`;
  }

  get pids(): readonly number[] {
    return this.#server.pids;
  }

  /** What the server and its processes have used so far. */
  cpuSeconds(): Promise<number> {
    return familySeconds(this.pids);
  }

  /** Waits until the server does nothing more. */
  async settle(): Promise<void> {
    let before = await this.cpuSeconds();
    for (let calm = 0; calm < 3;) {
      await delay(300);
      const now = await this.cpuSeconds();
      calm = now - before < 0.015 ? calm + 1 : 0;
      before = now;
    }
  }

  /** Starts the server anew, without some of the files that it can make again. */
  async restartWithout(...endings: readonly DerivedEnding[]): Promise<void> {
    await this.#server.stop();
    for (const ending of endings) {
      await Deno.remove(join(this.#home, "data", "projects", SLUG + ending)).catch(() => {});
    }
    this.#server = await startIn(this.#home);
    await this.settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

function startIn(home: string): Promise<MusterProcess> {
  return MusterProcess.start({ MUSTER_WEBHOOKS_ALLOW_PRIVATE: "true" }, home);
}
