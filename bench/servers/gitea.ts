import { join } from "node:path";
import { freePort } from "../../tests/support/free_port.ts";
import type { Address } from "../client/mod.ts";
import { untilListening } from "./server.ts";

const HOSTNAME = "127.0.0.1";
const USER = "bench";
const PASSWORD = "correct horse battery staple";

/** The program of Gitea; null if the environment names none. */
export function giteaProgram(): string | null {
  return Deno.env.get("MUSTER_PEER_GITEA") ?? null;
}

/** Gitea with its defaults, SQLite and one user. */
export class GiteaServer implements AsyncDisposable {
  readonly api: Address;
  /** A token of the user, with all rights. */
  readonly token: string;
  readonly pids: readonly number[];
  readonly #resources: AsyncDisposable;

  private constructor(
    started: Pick<GiteaServer, "api" | "token" | "pids">,
    resources: AsyncDisposable,
  ) {
    this.api = started.api;
    this.token = started.token;
    this.pids = started.pids;
    this.#resources = resources;
  }

  /** @throws Error if a command of the program fails, or it does not listen */
  static async start(): Promise<GiteaServer> {
    await using started = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "bench-gitea-" });
    started.defer(() => Deno.remove(folder, { recursive: true }));
    const api = { hostname: HOSTNAME, port: freePort() };
    await Deno.mkdir(join(folder, "custom", "conf"), { recursive: true });
    await Deno.writeTextFile(join(folder, "custom", "conf", "app.ini"), configOf(folder, api.port));
    const command = (...args: string[]) =>
      new Deno.Command(giteaProgram() ?? "gitea", {
        args,
        cwd: folder,
        clearEnv: true,
        env: { GITEA_WORK_DIR: folder, HOME: folder, PATH: Deno.env.get("PATH") ?? "" },
        stdin: "null",
        stdout: args[0] === "web" ? "null" : "piped",
        stderr: args[0] === "web" ? "null" : "piped",
      });
    await outputOf(command("migrate"));
    await outputOf(command(
      ...["admin", "user", "create", "--username", USER, "--password", PASSWORD],
      ...["--email", `${USER}@example.com`, "--must-change-password=false"],
    ));
    const token = await outputOf(command(
      ...["admin", "user", "generate-access-token", "--username", USER],
      ...["--token-name", USER, "--scopes", "all", "--raw"],
    ));
    const process = command("web").spawn();
    started.defer(async () => {
      process.kill("SIGTERM");
      await process.status;
    });
    await untilListening(api);
    return new GiteaServer({ api, token: token.trim(), pids: [process.pid] }, started.move());
  }

  /**
   * Makes a repository from a stream of `git fast-export`.
   *
   * @param folder a folder for Git's files
   * @param branch the main branch
   * @returns the start of the path of requests to its API
   */
  async createRepository(stream: string, folder: string, branch: string): Promise<string> {
    const { hostname, port } = this.api;
    const response = await fetch(`http://${hostname}:${port}/api/v1/user/repos`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: USER, default_branch: branch }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Gitea makes no repository: ${response.status} ${text}`);
    const url = `http://${USER}:${this.token}@${hostname}:${port}/${USER}/${USER}.git`;
    const script = 'git init -q --bare "$0" && cd "$0" && git fast-import --quiet < "$1" && ' +
      'git push -q "$2" --all';
    await outputOf(new Deno.Command("sh", { args: ["-c", script, folder, stream, url] }));
    return `/api/v1/repos/${USER}/${USER}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]();
  }
}

function configOf(folder: string, port: number): string {
  return `I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
RUN_MODE = prod
[server]
HTTP_ADDR = ${HOSTNAME}
HTTP_PORT = ${port}
ROOT_URL = http://${HOSTNAME}:${port}/
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = ${join(folder, "gitea.db")}
[repository]
ROOT = ${join(folder, "repositories")}
[security]
INSTALL_LOCK = true
[log]
LEVEL = Error
`;
}

/** @throws Error with what the command wrote, if it fails */
async function outputOf(command: Deno.Command): Promise<string> {
  const { success, stdout, stderr } = await command.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) throw new Error(`Gitea's preparation failed: ${text(stdout)} ${text(stderr)}`);
  return text(stdout);
}
