import assert from "node:assert/strict";

/** What a request was answered with. */
export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

/** A server's API with a token. */
export class Client {
  readonly #api: string;
  readonly #token: string;
  readonly #answered: () => void;

  /** @param answered called after each answer */
  constructor(api: string, token: string, answered: () => void = () => {}) {
    this.#api = api;
    this.#token = token;
    this.#answered = answered;
  }

  /**
   * Sends `METHOD path`. The answer is null if the server, or a process of its, ended before it came:
   * nobody knows whether the request was carried out.
   */
  async send<Body>(request: string, body?: unknown): Promise<Answer<Body> | null> {
    const [method = "", path = ""] = request.split(" ");
    try {
      const response = await fetch(this.#api + path, {
        method,
        headers: { authorization: `Bearer ${this.#token}` },
        ...(body === undefined
          ? {}
          : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
      this.#answered();
      if (response.status === 503) return null;
      return { status: response.status, body: isJson ? JSON.parse(text) : text };
    } catch {
      return null;
    }
  }

  /** The body of an answer that must be a success. */
  async get<Body>(path: string): Promise<Body> {
    const answer = await this.send<Body>(`GET ${path}`);
    assert.ok(answer !== null && answer.status < 300, `GET ${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  }

  /** The body of an answer that must be a success, or null if it is 404. */
  async find<Body>(path: string): Promise<Body | null> {
    const answer = await this.send<Body>(`GET ${path}`);
    if (answer?.status === 404) return null;
    assert.ok(answer !== null && answer.status < 300, `GET ${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  }
}
