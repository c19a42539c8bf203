import type { Context } from "hono";
import { type AppEnv, callerOf } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { Waits } from "../../http/mod.ts";
import { ServiceError } from "../../services/kernel/errors.ts";
import type { Identity } from "../../services/people/identity/mod.ts";
import type {
  Asking,
  Completion,
  FormatName,
  Gateway,
  ModelRequest,
  ServerEvent,
} from "../../services/models/llm/mod.ts";
import { STREAM_HEADERS } from "../event_streams.ts";
import { anthropicError, type ErrorWords, openAiError } from "../middleware/error_body.ts";
import { statusOf, wordsOf } from "../middleware/errors.ts";

export const TICKET_HEADER = "X-Muster-Ticket";

/** The headers of a request to a language model. */
export const ticketHeaders = z.object({
  [TICKET_HEADER]: z.string().max(200).optional().openapi({
    description: "What the call is for, in the ledger: PROJECT/TICKET, or a ticket that you " +
      "hold; by default, the ticket that you hold, if it is one",
  }),
});

export type TicketHeaders = z.infer<typeof ticketHeaders>;

export interface CompletionsOptions {
  readonly gateway: Pick<Gateway, "complete">;
  readonly identity: Pick<Identity, "onEnded">;
}

/** Answers requests to a language model. */
export class Completions {
  readonly #gateway: Pick<Gateway, "complete">;
  readonly #waits = new Waits();

  constructor(options: CompletionsOptions) {
    this.#gateway = options.gateway;
    options.identity.onEnded((ended) => this.#waits.abortEnded(ended));
  }

  /** Runs a task that waits for a provider, until its client disconnects or its credential ends. */
  wait<Result>(
    context: Context<AppEnv>,
    run: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    return this.#waits.run(context.get("principal"), context.req.raw.signal, (end) => {
      const controller = new AbortController();
      end.onEnd = () => controller.abort();
      if (end.isOver) controller.abort();
      return run(controller.signal);
    });
  }

  /**
   * Answers with the completion, or with server-sent events.
   *
   * @param about the format of the request, and the client's headers that are for the provider
   * @throws ServiceError like `Gateway.complete`
   */
  async answer(
    context: Context<AppEnv>,
    request: ModelRequest,
    { [TICKET_HEADER]: ticket }: TicketHeaders,
    { format = "chat", headers = {} }: Pick<Asking, "format" | "headers"> = {},
  ) {
    const asking = { ticket: ticket ?? null, format, headers };
    const completion = await this.#complete(context, request, asking);
    if (completion.kind === "stream") {
      const body = serverSentEvents(completion.events, STREAMS[format]);
      return context.body(body, 200, { ...completion.headers, ...STREAM_HEADERS });
    }
    const type = { "Content-Type": "application/json" };
    return context.body(completion.text, 200, { ...completion.headers, ...type });
  }

  /** Resolves at the first chunk of a stream, and keeps waiting for the last one. */
  #complete(
    context: Context<AppEnv>,
    request: ModelRequest,
    asking: Asking,
  ): Promise<Completion> {
    return new Promise((resolve, reject) => {
      this.wait(context, async (signal) => {
        const answer = await this.#gateway.complete(request, callerOf(context), signal, asking);
        resolve(answer);
        if (answer.kind === "stream") await answer.ended;
      }).catch(reject);
    });
  }
}

/** How a stream ends in a format. */
interface StreamEnd {
  /** The last event of an answer that is complete; none if the answer itself has one. */
  readonly done: readonly ServerEvent[];
  /**
   * The last event of one that broke off.
   *
   * @param count how many events were before it
   */
  failure(error: StreamError, count: number): ServerEvent;
}

interface StreamError {
  readonly status: number;
  readonly message: string;
  readonly words?: ErrorWords | undefined;
}

const CHAT: StreamEnd = {
  done: [{ name: null, data: "[DONE]" }],
  failure: ({ status, message, words }) => ({
    name: null,
    data: JSON.stringify(openAiError(status, message, words)),
  }),
};

const STREAMS: Readonly<Record<FormatName, StreamEnd>> = {
  chat: CHAT,
  embeddings: CHAT,
  responses: {
    done: [],
    failure: ({ status, message, words }, count) => ({
      name: "response.failed",
      data: JSON.stringify({
        type: "response.failed",
        sequence_number: count,
        response: {
          id: `resp_${crypto.randomUUID().replaceAll("-", "")}`,
          object: "response",
          status: "failed",
          error: { code: words?.code ?? RESPONSE_CODES[status] ?? "server_error", message },
          output: [],
        },
      }),
    }),
  },
  messages: {
    done: [],
    failure: ({ status, message }) => ({
      name: "error",
      data: JSON.stringify(anthropicError(status, message)),
    }),
  },
};

/** Codes of the Responses API for errors, by their statuses. */
const RESPONSE_CODES: Readonly<Record<number, string>> = { 429: "rate_limit_exceeded" };

/** Streams the events of an answer, and its end. */
function serverSentEvents(
  events: ReadableStream<ServerEvent>,
  { done: last, failure }: StreamEnd,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const write = ({ name, data }: ServerEvent) => {
    const lines = data.split("\n").map((line) => `data: ${line}\n`).join("");
    return encoder.encode(`${name === null ? "" : `event: ${name}\n`}${lines}\n`);
  };
  const reader = events.getReader();
  let count = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        count++;
        for (const event of done ? last : [value]) controller.enqueue(write(event));
        if (done) controller.close();
      } catch (error) {
        controller.enqueue(write(failure(streamError(error), count)));
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

function streamError(error: unknown): StreamError {
  if (!(error instanceof ServiceError)) return { status: 500, message: "The answer broke off" };
  return { status: statusOf(error), message: error.message, words: wordsOf(error) };
}
