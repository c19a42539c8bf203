import type { Context } from "hono";
import { type AppEnv, callerOf } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { Waits } from "../../http/mod.ts";
import { ServiceError } from "../../services/kernel/errors.ts";
import type { Identity } from "../../services/people/identity/mod.ts";
import type { Completion, CompletionRequest, Gateway } from "../../services/models/llm/mod.ts";
import { STREAM_HEADERS } from "../event_streams.ts";
import { openAiError } from "../middleware/error_body.ts";
import { statusOf, wordsOf } from "../middleware/errors.ts";

const TICKET_HEADER = "X-Muster-Ticket";

/** The headers of a request to a language model. */
export const ticketHeaders = z.object({
  [TICKET_HEADER]: z.string().max(200).optional().openapi({
    description: "What the call is for, in the ledger: PROJECT/TICKET, or a ticket that you " +
      "hold; by default, the ticket that you hold, if it is one",
  }),
});

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
   * Answers with the completion, or with its chunks as server-sent events.
   *
   * @throws ServiceError like `Gateway.complete`
   */
  async answer(
    context: Context<AppEnv>,
    request: CompletionRequest,
    { [TICKET_HEADER]: ticket }: z.infer<typeof ticketHeaders>,
  ) {
    const completion = await this.#complete(context, request, ticket ?? null);
    if (completion.kind === "stream") {
      return context.body(serverSentEvents(completion.chunks), 200, STREAM_HEADERS);
    }
    return context.body(completion.text, 200, { "Content-Type": "application/json" });
  }

  /** Resolves at the first chunk of a stream, and keeps waiting for the last one. */
  #complete(
    context: Context<AppEnv>,
    request: CompletionRequest,
    ticket: string | null,
  ): Promise<Completion> {
    return new Promise((resolve, reject) => {
      this.wait(context, async (signal) => {
        const answer = await this.#gateway.complete(request, callerOf(context), signal, ticket);
        resolve(answer);
        if (answer.kind === "stream") await answer.ended;
      }).catch(reject);
    });
  }
}

/**
 * Streams chunks in the common format: an event each, and `[DONE]` at the end. A failure is an
 * event with the error, without `[DONE]`.
 */
function serverSentEvents(chunks: ReadableStream<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const event = (data: string) => encoder.encode(`data: ${data}\n\n`);
  const reader = chunks.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        controller.enqueue(event(done ? "[DONE]" : value));
        if (done) controller.close();
      } catch (error) {
        controller.enqueue(event(JSON.stringify(errorEvent(error))));
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

function errorEvent(error: unknown) {
  if (!(error instanceof ServiceError)) return openAiError(500, "The answer broke off");
  return openAiError(statusOf(error), error.message, wordsOf(error));
}
