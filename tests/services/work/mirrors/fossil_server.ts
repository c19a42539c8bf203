/** An upstream Fossil repository: each connection on a free port is one run of `fossil http`. */
import { FossilClient } from "../../../support/sync.ts";

export class FossilUpstream implements AsyncDisposable {
  readonly client: FossilClient;
  readonly #program: string;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #running = new Set<Promise<void>>();
  /** The bytes of an answer after which the connection ends, for each of the next connections. */
  readonly cuts: number[] = [];
  /** How many connections there were. */
  connections = 0;

  private constructor(program: string) {
    this.#program = program;
    this.client = new FossilClient(program);
    this.#running.add(this.#accept());
  }

  /** Makes a repository with a check-in, a wiki page and a ticket, and serves it. */
  static async start(program: string): Promise<FossilUpstream> {
    const upstream = new FossilUpstream(program);
    const { client } = upstream;
    await client.fossil(["init", "--admin-user", "ursula", "up.fossil"]);
    Deno.mkdirSync(client.path("work"));
    await upstream.fossil("open", "../up.fossil");
    await upstream.fossil("user", "default", "ursula");
    await upstream.commit("one.txt", "one\n");
    await upstream.writePage("Start", "Hello from upstream\n");
    await upstream.addTicket("First");
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}/`;
  }

  /** Runs the program in the checkout. */
  fossil(...args: string[]): Promise<string> {
    return this.client.fossil(args, this.client.path("work"));
  }

  async commit(name: string, content: string | Uint8Array, ...options: string[]): Promise<void> {
    this.client.write(`work/${name}`, content);
    await this.fossil("addremove");
    await this.fossil("commit", "--no-warnings", "-m", `Change ${name}`, ...options);
  }

  async writePage(name: string, text: string): Promise<void> {
    const path = this.client.write("page.txt", text);
    const known = await this.fossil("wiki", "list");
    const verb = known.split("\n").includes(name) ? "commit" : "create";
    await this.fossil("wiki", verb, name, path);
  }

  async addTicket(title: string): Promise<void> {
    await this.fossil("ticket", "add", "title", title, "status", "Open", "type", "Code_Defect");
  }

  /** Lets only a user with a password read it. */
  async require(user: string, password: string): Promise<void> {
    await this.fossil("user", "capabilities", "nobody", "");
    await this.fossil("user", "capabilities", "anonymous", "");
    await this.fossil("user", "new", user, "", password);
    await this.fossil("user", "capabilities", user, "goj");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await Promise.all(this.#running);
    this.client[Symbol.dispose]();
  }

  async #accept(): Promise<void> {
    try {
      for await (const connection of this.#listener) {
        this.connections++;
        const serving = this.#serve(connection, this.cuts.shift() ?? Infinity);
        this.#running.add(serving);
      }
    } catch {
      // The listener is closed.
    }
  }

  async #serve(connection: Deno.TcpConn, cut: number): Promise<void> {
    const process = new Deno.Command(this.#program, {
      args: ["http", "up.fossil", "--ipaddr", "127.0.0.1"],
      cwd: this.client.folder,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
      clearEnv: true,
      env: { HOME: this.client.folder, PATH: Deno.env.get("PATH") ?? "" },
    }).spawn();
    const feeding = connection.readable.pipeTo(process.stdin, { preventCancel: true })
      .catch(() => {});
    let left = cut;
    const writer = connection.writable.getWriter();
    for await (const chunk of process.stdout) {
      await writer.write(chunk.subarray(0, Math.max(0, left))).catch(() => {});
      left -= chunk.length;
    }
    await process.status;
    try {
      connection.close();
    } catch {
      // The client has closed it.
    }
    await feeding;
  }
}
