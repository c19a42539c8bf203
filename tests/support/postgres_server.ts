/** Starts a real PostgreSQL of its own, for tests that stop it and start it again. */
import { join } from "node:path";
import { freePort } from "./free_port.ts";
import { postgresPrograms } from "./peers.ts";
import { NOBODY, Running, unprivileged } from "./running.ts";

/** How it stops: it ends its sessions, or it leaves everything as a crash does. */
const SIGNALS = { fast: "SIGINT", crash: "SIGQUIT" } as const;

/** PostgreSQL with an empty database, on this machine. */
export class PostgresServer implements AsyncDisposable {
  /** The URL of the database. */
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #running: Running | null = null;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.url = `postgres://muster@127.0.0.1:${port}/postgres`;
  }

  /**
   * Makes it in a new folder, and starts it.
   *
   * @param folder does not exist yet
   */
  static async start(folder: string): Promise<PostgresServer> {
    await Deno.mkdir(folder);
    if (Deno.uid() === 0) await Deno.chown(folder, NOBODY, NOBODY);
    const [first = "", ...args] = unprivileged(
      join(postgresPrograms(), "initdb"),
      `--pgdata=${join(folder, "data")}`,
      ...["--username=muster", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"],
    );
    const { code, stderr } = await new Deno.Command(first, { args, cwd: folder }).output();
    if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
    const server = new PostgresServer(folder, freePort());
    await server.start();
    return server;
  }

  /** Starts it again. */
  async start(): Promise<void> {
    const settings = {
      listen_addresses: "127.0.0.1",
      port: this.#port,
      unix_socket_directories: this.#folder,
      max_connections: 200,
      // What is written outlives the program, and nothing here outlives the machine.
      fsync: "off",
      full_page_writes: "off",
    };
    const running = new Running(join(postgresPrograms(), "postgres"), [
      ...["-D", join(this.#folder, "data")],
      ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]),
    ]);
    this.#running = running;
    try {
      await running.logged(/database system is ready to accept connections/);
    } catch (error) {
      await this.stop("crash");
      throw error;
    }
  }

  /** The process that all of its others belong to; null while it is stopped. */
  get pid(): number | null {
    return this.#running?.pid ?? null;
  }

  /** Stops it. */
  async stop(how: keyof typeof SIGNALS = "fast"): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.stop(SIGNALS[how]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("crash");
  }
}
