/** A Git remote over HTTP: a bare repository behind `git http-backend`. */
import { Buffer } from "node:buffer";
import { join } from "node:path";

export class GitServer implements AsyncDisposable {
  /** The credentials that it wants, as the header `Authorization`; null for none. */
  wanted: string | null = null;
  /** Answers in place of Git, unless it is null. */
  instead: (request: Request) => Response | null = () => null;
  /** Whether the version of the protocol that a client asks for counts. */
  knowsVersions = true;
  /** The paths of the requests so far. */
  readonly requests: string[] = [];
  /** The header `Authorization` of the requests so far. */
  readonly authorizations: (string | null)[] = [];
  /** Whether a pack does not end: half of it comes, and then nothing. */
  stalls = false;
  /** Changes the packs that are sent. */
  change: (pack: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> = (pack) => pack;
  /** The folder of the repositories. */
  readonly root: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  private constructor(folder: string) {
    this.root = folder;
    const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#server = Deno.serve(options, (request) => this.#answer(request));
  }

  /** Makes an empty repository in a folder and serves it. */
  static async start(folder: string): Promise<GitServer> {
    const server = new GitServer(folder);
    await server.git("init", "--quiet", "--bare", "--initial-branch=main", server.folder);
    return server;
  }

  /** Serves the repositories of a folder. */
  static serve(folder: string): GitServer {
    return new GitServer(folder);
  }

  /** The folder of the repository. */
  get folder(): string {
    return join(this.root, "demo.git");
  }

  /** Its references and what they point at, a line each. */
  async refs(): Promise<string> {
    return await this.git("for-each-ref", "--format=%(objectname) %(refname)");
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
      cwd: this.root,
      env: { GIT_DIR: this.folder },
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
    this.authorizations.push(request.headers.get("authorization"));
    const body = new Uint8Array(await request.arrayBuffer());
    const other = this.instead(request);
    if (other !== null) return other;
    if (this.wanted !== null && request.headers.get("authorization") !== this.wanted) {
      const headers = { "www-authenticate": 'Basic realm="git"' };
      return new Response("no", { status: 401, headers });
    }
    const backend = new Deno.Command("git", {
      args: ["-c", "safe.directory=*", "http-backend"],
      env: {
        GIT_PROJECT_ROOT: this.root,
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
        GIT_PROTOCOL: this.knowsVersions ? request.headers.get("git-protocol") ?? "" : "",
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
    const content = stdout.slice(end + 4);
    const isPack = pathname.endsWith("/git-upload-pack") &&
      Buffer.from(body.buffer).includes("want ");
    const sent = isPack ? this.change(content) : content;
    const half = sent.subarray(0, sent.length >> 1);
    const begun = () => new ReadableStream({ start: (controller) => controller.enqueue(half) });
    const stalls = isPack && this.stalls;
    return new Response(stalls ? begun() : sent, { status: parseInt(status), headers });
  }
}
