/** A connection to PostgreSQL that a test can cut, as a failing network would. */

/** Passes bytes between clients and a server of PostgreSQL, until it is cut. */
export class Cuttable implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #target: URL;
  readonly #open = new Set<Deno.Conn>();
  readonly #served: Promise<void>;
  #isCut = false;

  /** @param url the database, whose server listens on a socket in the file system or on TCP */
  constructor(url: string) {
    this.#target = new URL(url);
    this.#served = this.#serve();
  }

  /** The URL of the database by way of this. */
  get url(): string {
    const { hostname, port } = this.#listener.addr;
    const url = new URL(this.#target);
    return `postgres://${url.username}@${hostname}:${port}${url.pathname}`;
  }

  /** From now on, what is sent does not arrive. */
  cut(): void {
    this.#isCut = true;
  }

  /** Lets new connections through again, and ends those from before. */
  mend(): void {
    this.#isCut = false;
    this.#closeAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.#closeAll();
    await this.#served;
  }

  async #serve(): Promise<void> {
    for await (const client of this.#listener) void this.#join(client).catch(() => {});
  }

  async #join(client: Deno.Conn): Promise<void> {
    this.#open.add(client);
    if (this.#isCut) return;
    const server = await this.#connect();
    this.#open.add(server);
    await Promise.allSettled([this.#pass(client, server), this.#pass(server, client)]);
    for (const end of [client, server]) this.#close(end);
  }

  #connect(): Promise<Deno.Conn> {
    const { hostname, port } = this.#target;
    const path = decodeURIComponent(hostname);
    if (path.startsWith("/")) {
      return Deno.connect({ transport: "unix", path: `${path}/.s.PGSQL.${port || 5432}` });
    }
    return Deno.connect({ hostname, port: Number(port || 5432) });
  }

  async #pass(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    for (let read; (read = await from.read(buffer)) !== null;) {
      if (this.#isCut) continue;
      for (let sent = 0; sent < read;) sent += await to.write(buffer.subarray(sent, read));
    }
    if (!this.#isCut) await to.closeWrite();
  }

  #closeAll(): void {
    for (const end of this.#open) this.#close(end);
  }

  #close(end: Deno.Conn): void {
    if (!this.#open.delete(end)) return;
    try {
      end.close();
    } catch {
      // It is closed already.
    }
  }
}
