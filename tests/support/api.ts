import assert from "node:assert/strict";
import { asked, WAIT_LIMIT, within } from "./until.ts";

/** An agent's credentials. */
export interface Credentials {
  readonly nick: string;
  readonly passphrase: string;
}

/** The address of a server's API, and the operator's token. */
export interface Server {
  readonly api: string;
  readonly token: string;
}

/** How long an answer may take, in milliseconds: a request may ask to wait for a minute. */
const ANSWER_LIMIT = 2 * WAIT_LIMIT;

/** What a node answers that a busy machine keeps from the database for five seconds. */
const LOST_TOUCH = /lost touch with the database/;

/**
 * Calls the API as the operator.
 *
 * @throws Error if no answer begins in time
 */
export function call(
  { api, token }: Server,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return send(api, `Bearer ${token}`, { method, path, body });
}

/** Sends a request; a node that has lost touch with the database does nothing, and is asked again. */
async function send(
  api: string,
  authorization: string,
  { method, path, body }: { method: string; path: string; body: unknown },
): Promise<Response> {
  const ask = async () => {
    const answer = fetch(api + path, {
      method,
      headers: { authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await within(answer, () => `The answer to ${method} ${path}`, ANSWER_LIMIT);
    const refusal = response.status === 503 ? await response.clone().text() : "";
    const isInTouch = !LOST_TOUCH.test(refusal);
    if (!isInTouch) await response.body?.cancel();
    return { response, isInTouch };
  };
  const { response } = await asked(ask, ({ isInTouch }) => isInTouch);
  return response;
}

/**
 * Calls the API as an agent, with its nick and passphrase.
 *
 * @throws Error if no answer begins in time
 */
export function callAs(
  { api }: Pick<Server, "api">,
  { nick, passphrase }: Credentials,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return send(api, `Basic ${btoa(`${nick}:${passphrase}`)}`, { method, path, body });
}

/** An answer that has been read. */
interface Answer {
  readonly status: number;
  readonly isJson: boolean;
  readonly text: string;
}

/** Sends a request of the operator that must succeed; returns its JSON, or null. */
export async function order(
  server: Server,
  request: string,
  body?: unknown,
): Promise<unknown> {
  return succeeded(await sent(server, request, body), request);
}

/** As {@link order}, to a node that may answer 503 for other reasons, and is asked again, too. */
export async function orderNode(node: Server, request: string, body?: unknown): Promise<unknown> {
  const ask = () => sent(node, request, body);
  return succeeded(await asked(ask, ({ status }) => status !== 503), request);
}

async function sent(server: Server, request: string, body: unknown): Promise<Answer> {
  const [method = "", path = ""] = request.split(" ");
  const response = await call(server, method, path, body);
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: response.status, isJson, text: await response.text() };
}

function succeeded({ status, isJson, text }: Answer, request: string): unknown {
  assert.ok(status >= 200 && status < 300, `${request}: ${status} ${text}`);
  return isJson ? JSON.parse(text) : null;
}

/** Registers an agent and returns its credentials. */
export async function registerAgent(
  server: Server,
  nick: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Credentials> {
  const { status, text } = await sent(server, "POST /v1/agents/register", { nick, ...more });
  assert.equal(status, 200, text);
  return JSON.parse(text).credentials;
}

/** A message as the API returns it. */
export interface Message {
  readonly nick: string;
  readonly text: string;
  readonly timestamp: string;
}

/** An open event stream of a channel. */
export class ChannelStream implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";
  readonly #queue: string[] = [];

  private constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Opens the stream; resolves when its headers have arrived. */
  static async open({ api, token }: Server, channel: string, query = ""): Promise<ChannelStream> {
    const response = await fetch(`${api}/v1/channels/${channel}/stream?token=${token}${query}`, {
      headers: { accept: "text/event-stream" },
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.ok(response.body);
    return new ChannelStream(response.body);
  }

  /**
   * The next message, or null if the server has ended the stream.
   *
   * @throws Error if neither comes in time
   */
  async next(): Promise<Message | null> {
    while (this.#queue.length === 0) {
      const { value, done } = await within(this.#reader.read(), () => "The next message");
      if (done) return null;
      const lines = (this.#rest + value).split("\n");
      this.#rest = lines.pop() ?? "";
      this.#queue.push(...lines.filter((line) => line.startsWith("data: ")));
    }
    return JSON.parse((this.#queue.shift() ?? "").slice("data: ".length));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }
}
