import { within } from "../../../support/until.ts";
/** A program that gets webhooks. */

/** A request that arrived. */
export interface Arrival {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export class Receiver implements AsyncDisposable {
  readonly arrivals: Arrival[] = [];
  /** What it answers, by how many arrived before. */
  answer: (count: number) => Response | Promise<Response> = () =>
    new Response(null, { status: 204 });
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  #arrived = Promise.withResolvers<void>();
  #taken = 0;

  constructor() {
    const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#server = Deno.serve(options, async (request) => {
      const { pathname: path } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      const count = this.arrivals.push({ path, headers, body: await request.text() }) - 1;
      this.#arrived.resolve();
      this.#arrived = Promise.withResolvers();
      return await this.answer(count);
    });
  }

  get port(): number {
    return this.#server.addr.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /**
   * The next arrival that was not taken yet.
   *
   * @throws Error if it does not come in time
   */
  async next(): Promise<Arrival> {
    for (;;) {
      const arrival = this.arrivals[this.#taken];
      if (arrival === undefined) {
        await within(this.#arrived.promise, () => "The next arrival");
        continue;
      }
      this.#taken++;
      return arrival;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
