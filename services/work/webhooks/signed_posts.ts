import {
  ClosedHost,
  type OutboundAnswer,
  type OutboundClient,
  OutboundFailure,
} from "../../kernel/outbound/mod.ts";
import { VERSION } from "../../kernel/version.ts";
import { signatureOf } from "./records.ts";

const SECOND = 1000;

/** What is posted. */
export interface SignedPost {
  readonly url: URL;
  /** The value of `webhook-id`: the same for every attempt. */
  readonly id: string;
  /** JSON. */
  readonly body: string;
  readonly secrets: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** How an attempt ended. */
export interface PostOutcome {
  /** Null without a response. */
  readonly status: number | null;
  /** Why it failed, as a sentence; null if it did not. */
  readonly error: string | null;
  /** What the response asks for, in seconds. */
  readonly retryAfter: number | null;
  /** What stood in the way, if there is no response. */
  readonly obstacle?: "host" | "time" | "connection";
}

export interface SignedPostsOptions {
  readonly client: Pick<OutboundClient, "post">;
  /** For each request, in milliseconds. */
  readonly timeLimit: number;
}

/** Posts bodies that are signed according to Standard Webhooks, each with the time of its attempt. */
export class SignedPosts {
  readonly #options: SignedPostsOptions;

  constructor(options: SignedPostsOptions) {
    this.#options = options;
  }

  /**
   * Makes one attempt. Redirects are not followed.
   *
   * @param now Unix milliseconds
   * @param stopped ends it
   * @param read takes what it needs of the body of a response; without it, only the head is read
   * @throws the error of a bug
   */
  async send(
    { url, id, body, secrets, headers }: SignedPost,
    { now, stopped }: { readonly now: number; readonly stopped: AbortSignal },
    read: (answer: OutboundAnswer) => Promise<void> | void = () => {},
  ): Promise<PostOutcome> {
    const timestamp = Math.floor(now / SECOND);
    const limit = AbortSignal.timeout(this.#options.timeLimit);
    const signal = AbortSignal.any([stopped, limit]);
    const request = {
      headers: {
        "content-type": "application/json",
        "user-agent": `muster/${VERSION}`,
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": signatureOf(secrets, { id, timestamp, body }),
        ...headers,
      },
      body: new TextEncoder().encode(body),
      signal,
    };
    try {
      const answer = await this.#options.client.post(url, request);
      try {
        await read(answer);
      } finally {
        answer.drop();
      }
      const { status } = answer;
      return {
        status,
        error: errorOf(status),
        retryAfter: secondsOf(answer.header("retry-after")),
      };
    } catch (error) {
      const isKnown = error instanceof OutboundFailure || error instanceof ClosedHost;
      if (!isKnown && !signal.aborted) throw error;
      const nothing = { status: null, retryAfter: null };
      if (stopped.aborted) return { ...nothing, error: "The server is shutting down" };
      if (limit.aborted) return { ...nothing, error: "No response came in time", obstacle: "time" };
      const obstacle = error instanceof ClosedHost ? "host" : "connection";
      return { ...nothing, error: (error as Error).message, obstacle };
    }
  }
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return "The response is a redirect, which is not followed";
  return `The response is ${status}`;
}

function secondsOf(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : null;
}
