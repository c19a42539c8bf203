import { within } from "./until.ts";

/** A TCP connection on which a test sends arbitrary bytes. */
export class RawConnection implements Disposable {
  readonly #conn: Deno.Conn;

  private constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** Connects to the host and port of a URL, without TLS. */
  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    return new RawConnection(await Deno.connect({ hostname, port: Number(port) }));
  }

  /** Sends text, whose characters are bytes. */
  async send(text: string): Promise<void> {
    let bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    while (bytes.length > 0) bytes = bytes.subarray(await this.#conn.write(bytes));
  }

  /**
   * Reads until the text matches.
   *
   * @throws Error if the connection ends first, or nothing more comes in time
   */
  async until(pattern: RegExp): Promise<string> {
    let text = "";
    for (;;) {
      const part = await this.#read();
      if (part === null) throw new Error(`${pattern} did not come, but ${text}`);
      text += part;
      if (pattern.test(text)) return text;
    }
  }

  /**
   * Reads until the other side closes the connection.
   *
   * @throws Error if it neither sends nor closes in time
   */
  async untilClosed(): Promise<string> {
    let text = "";
    for (let part = await this.#read(); part !== null; part = await this.#read()) text += part;
    return text;
  }

  async #read(): Promise<string | null> {
    const buffer = new Uint8Array(4096);
    try {
      const count = await within(this.#conn.read(buffer), () => "More bytes, or the end,");
      return count === null ? null : String.fromCharCode(...buffer.subarray(0, count));
    } catch (error) {
      if (error instanceof Deno.errors.ConnectionReset) return null;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#conn.close();
  }
}
