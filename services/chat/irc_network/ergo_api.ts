import { z } from "zod";
import { bodyUntil } from "../../kernel/body_until.ts";
import { Unavailable } from "../../kernel/errors.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** How long Ergo may take to answer, including the body. */
const ANSWER_MILLISECONDS = 5000;

/** Largest answer: the list of some hundred thousand accounts. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

const answerSchema = z.object({
  success: z.boolean(),
  accountName: z.string().optional(),
  errorCode: z.string().optional(),
  error: z.string().optional(),
  accounts: z.array(z.object({ accountName: z.string() })).nullish(),
});

/** The parts of Ergo's answers that are used here. */
export type ErgoAnswer = z.infer<typeof answerSchema>;

export interface ErgoApiOptions {
  /** `host:port`, or a URL that begins with `http://` or `https://`. */
  readonly address: string;
  /** The bearer token. */
  readonly token: string;
  readonly scheduler: Scheduler;
}

/** The HTTP API of an Ergo IRC server. Its answers are bounded in time and size. */
export class ErgoApi {
  readonly #base: string;
  readonly #token: string;
  readonly #scheduler: Scheduler;
  readonly #calls = new Set<AbortController>();
  #closed = false;

  constructor(options: ErgoApiOptions) {
    const { address } = options;
    const url = /^https?:\/\//.test(address) ? address : `http://${address}`;
    this.#base = url.replace(/(?<!\/)\/+$/, "");
    this.#token = options.token;
    this.#scheduler = options.scheduler;
  }

  /**
   * Sends a request to Ergo.
   *
   * @param path such as `/v1/ns/info`
   * @returns null if this Ergo does not have the path
   * @throws Unavailable if it cannot be reached, does not answer in time or refuses the token
   */
  async call(path: string, body: Readonly<Record<string, string>>): Promise<ErgoAnswer | null> {
    if (this.#closed) throw unreachable("muster is shutting down");
    const call = new AbortController();
    this.#calls.add(call);
    const cancel = this.#scheduler.after(ANSWER_MILLISECONDS, () => call.abort());
    try {
      return await this.#fetch(path, body, call.signal);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      throw unreachable(call.signal.aborted ? "it does not answer in time" : "no connection");
    } finally {
      cancel();
      this.#calls.delete(call);
    }
  }

  /** Cancels running requests. */
  close(): void {
    this.#closed = true;
    for (const call of this.#calls) call.abort();
  }

  async #fetch(
    path: string,
    body: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ErgoAnswer | null> {
    const response = await fetch(this.#base + path, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "manual",
      signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status === 404) return null;
      throw unreachable(
        response.status === 401
          ? "it refuses the token of irc.ergo.api_token"
          : `it answers with status ${response.status}`,
      );
    }
    const answer = answerSchema.safeParse(parseJson(await readBounded(response, signal)));
    if (!answer.success) throw unreachable("its answer cannot be understood");
    return answer.data;
  }
}

function unreachable(reason: string): Unavailable {
  return new Unavailable(`The API of the IRC network cannot be used: ${reason}`);
}

async function readBounded({ body }: Response, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body === null ? [] : bodyUntil(body, signal)) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw unreachable("its answer is too long");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
