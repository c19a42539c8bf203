import { type Address, Connection, type ConnectionOwner, type Consumer } from "./connection.ts";
import type { Login } from "./irc.ts";

const LF = 0x0a;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A request that is sent many times. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Bearer token; none by default. */
  readonly token?: string;
  /** Nick and passphrase of an agent, in place of a token. */
  readonly login?: Required<Login>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** An answer to a request. */
export interface HttpAnswer {
  readonly status: number;
  /** The body; empty where it was not asked for. */
  readonly text: string;
}

/** What the reader of an answer looks at next. */
type Part = "status" | "header" | "body" | "chunk size" | "chunk" | "chunk end" | "trailer";

/** Parts that are not lines. */
const DATA: ReadonlySet<Part> = new Set(["body", "chunk"]);

/** A kept HTTP/1.1 connection, with one request at a time. */
export class HttpClient implements ConnectionOwner, Disposable {
  readonly consumer: Consumer = (bytes, length) => this.#read(bytes, length);
  #connection: Connection | null = null;
  #waiting: PromiseWithResolvers<HttpAnswer> | null = null;
  #closed: string | null = null;

  #part: Part = "status";
  #status = 0;
  /** Bytes of the body, or of a chunk, that are still to come. */
  #left = 0;
  #chunked = false;
  #keepsBody = false;
  #body = "";

  private constructor() {}

  /** @throws the runtime's error if nobody listens */
  static async open(address: Address): Promise<HttpClient> {
    const client = new HttpClient();
    client.#connection = await Connection.open(address, client);
    return client;
  }

  /** The text of a request, to be made once. */
  static format({ method, path, token, login, body }: HttpRequest): string {
    const content = body === undefined ? "" : JSON.stringify(body);
    const basic = login === undefined ? "" : btoa(`${login.nick}:${login.passphrase}`);
    const headers = [
      `${method} ${path} HTTP/1.1`,
      "Host: 127.0.0.1",
      "Accept: application/json, text/event-stream",
      ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
      ...(login === undefined ? [] : [`Authorization: Basic ${basic}`]),
      ...(method === "GET" ? [] : [
        "Content-Type: application/json",
        `Content-Length: ${encoder.encode(content).length}`,
      ]),
    ];
    return `${headers.join("\r\n")}\r\n\r\n${content}`;
  }

  /**
   * Sends a formatted request and reads the whole answer.
   *
   * @param keepsBody whether the answer has the text of the body
   * @throws Error if the connection ends before, or another request is under way
   */
  async ask(request: string, keepsBody = false): Promise<HttpAnswer> {
    if (this.#closed !== null || this.#connection === null) {
      throw new Error(`The connection is closed: ${this.#closed ?? "not open yet"}`);
    }
    if (this.#waiting !== null) throw new Error("The connection has a request already");
    const waiting = Promise.withResolvers<HttpAnswer>();
    this.#waiting = waiting;
    this.#keepsBody = keepsBody;
    this.#body = "";
    const [answer] = await Promise.all([waiting.promise, this.#connection.write(request)]);
    return answer;
  }

  closed(reason: string): void {
    this.#closed = reason;
    this.#waiting?.reject(new Error(`The connection ended before the answer: ${reason}`));
  }

  [Symbol.dispose](): void {
    this.#connection?.close();
  }

  #read(bytes: Uint8Array, length: number): number {
    let at = 0;
    while (at < length) {
      if (DATA.has(this.#part)) {
        const end = Math.min(length, at + this.#left);
        if (this.#keepsBody) this.#body += decoder.decode(bytes.subarray(at, end));
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#dataEnded();
      } else {
        const end = bytes.indexOf(LF, at);
        if (end === -1 || end >= length) return at;
        this.#takeLine(decoder.decode(bytes.subarray(at, end)).trimEnd());
        at = end + 1;
      }
    }
    return at;
  }

  #takeLine(line: string): void {
    switch (this.#part) {
      case "status":
        this.#status = Number(line.split(" ")[1]);
        this.#left = 0;
        this.#chunked = false;
        this.#part = "header";
        break;
      case "header":
        if (line === "") this.#headEnded();
        else this.#takeHeader(line.toLowerCase());
        break;
      case "chunk size":
        this.#left = Number.parseInt(line, 16);
        this.#part = this.#left === 0 ? "trailer" : "chunk";
        break;
      case "chunk end":
        this.#part = "chunk size";
        break;
      case "trailer":
        if (line === "") this.#answered();
        break;
    }
  }

  #takeHeader(line: string): void {
    const [, length] = /^content-length: *(\d+)$/.exec(line) ?? [];
    if (length !== undefined) this.#left = Number(length);
    if (/^transfer-encoding: *chunked$/.test(line)) this.#chunked = true;
  }

  #headEnded(): void {
    if (this.#chunked) this.#part = "chunk size";
    else if (this.#left > 0) this.#part = "body";
    else this.#answered();
  }

  #dataEnded(): void {
    if (this.#part === "chunk") this.#part = "chunk end";
    else this.#answered();
  }

  #answered(): void {
    this.#part = "status";
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status: this.#status, text: this.#body });
  }
}
