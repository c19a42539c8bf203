/** A Git remote over HTTP: a bare repository behind `git http-backend`. */
import { Buffer } from "node:buffer";
import { join } from "node:path";

export class GitServer implements AsyncDisposable {
  /** The credentials that it wants, as the header `Authorization`; null for none. */
  wanted: string | null = null;
  /** Answers in place of Git, if set. */
  instead: (() => Response) | null = null;
  /** The paths of the requests so far. */
  readonly requests: string[] = [];
  readonly #folder: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  private constructor(folder: string) {
    this.#folder = folder;
    const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#server = Deno.serve(options, (request) => this.#answer(request));
  }

  /** Makes an empty repository in a folder and serves it. */
  static async start(folder: string): Promise<GitServer> {
    const server = new GitServer(folder);
    await server.git("init", "--quiet", "--bare", join(folder, "demo.git"));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/demo.git`;
  }

  /** Asks for this user and password from now on. */
  require(user: string, password: string): void {
    this.wanted = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  }

  /** Runs a command of git in the repository and returns its output. */
  async git(...args: string[]): Promise<string> {
    const command = new Deno.Command("git", {
      args: ["-c", "safe.directory=*", ...args],
      cwd: this.#folder,
      env: { GIT_DIR: join(this.#folder, "demo.git") },
    });
    const { success, stdout, stderr } = await command.output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    this.requests.push(pathname);
    const body = new Uint8Array(await request.arrayBuffer());
    if (this.instead !== null) return this.instead();
    if (this.wanted !== null && request.headers.get("authorization") !== this.wanted) {
      const headers = { "www-authenticate": 'Basic realm="git"' };
      return new Response("no", { status: 401, headers });
    }
    const backend = new Deno.Command("git", {
      args: ["-c", "safe.directory=*", "http-backend"],
      env: {
        GIT_PROJECT_ROOT: this.#folder,
        GIT_HTTP_EXPORT_ALL: "1",
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.directory",
        GIT_CONFIG_VALUE_0: "*",
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers.get("content-type") ?? "",
        HTTP_CONTENT_ENCODING: request.headers.get("content-encoding") ?? "",
        CONTENT_LENGTH: String(body.length),
        REMOTE_USER: "mirror",
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const [{ stdout }] = await Promise.all([
      backend.output(),
      new Blob([body]).stream().pipeTo(backend.stdin),
    ]);
    const end = Buffer.from(stdout).indexOf("\r\n\r\n");
    const lines = new TextDecoder().decode(stdout.subarray(0, end)).split("\r\n");
    const fields = lines.map((line) => line.split(": ") as [string, string]);
    const status = fields.find(([name]) => name === "Status")?.[1] ?? "200";
    const headers = fields.filter(([name]) => name !== "Status");
    return new Response(stdout.slice(end + 4), { status: parseInt(status), headers });
  }
}
