import type {
  LanguageModelV4,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { Invalid } from "../../../kernel/errors.ts";
import { type JsonObject, parseJson } from "../json.ts";
import { requireNoError, ToldError } from "../told.ts";
import {
  type Answer,
  Chunks,
  chunksOf,
  completionOf,
  type DetailedUsage,
  type FinishReason,
  newAnswerId,
  opened,
  type ToolCall,
} from "./answer.ts";
import { type ChatApi, type ChatCall, cutShort } from "./chat.ts";
import { callOptions } from "./prompt.ts";
import { readRequest } from "./request.ts";

type Fetch = typeof globalThis.fetch;

/** Creates the model of one call, with its key and its connection to the provider. */
export type ModelFactory = (modelId: string, call: ChatCall) => LanguageModelV4;

/** An API that a provider of the AI SDK speaks, translated from and to the common format. */
export function languageModelApi(newModel: ModelFactory): ChatApi {
  return {
    async complete(call) {
      const request = readRequest(call.request);
      const model = newModel(request.model, { ...call, fetch: forAnswer(call.fetch) });
      return completionFrom(
        await sayable(() => model.doGenerate(callOptions(request))),
        request.model,
      );
    },

    async *stream(call) {
      const request = readRequest(call.request);
      const options = { ...callOptions(request), includeRawChunks: true };
      const whole: { text?: string } = {};
      const model = newModel(request.model, { ...call, fetch: forStream(call.fetch, whole) });
      try {
        const { stream } = await sayable(() => model.doStream(options));
        const translation = new StreamTranslation(request.model);
        for await (const part of stream) yield* translation.translate(part);
      } catch (error) {
        if (whole.text === undefined) throw error;
        const { text } = whole;
        const again = newModel(request.model, { ...call, fetch: () => answered(text) });
        const result = await sayable(() => again.doGenerate(callOptions(request)));
        yield* chunksOf(completionFrom(result, request.model));
      }
    },
  };
}

/** @throws Error if the answer is empty and does not tell its end */
function completionFrom(result: LanguageModelV4GenerateResult, model: string): JsonObject {
  const { response, content } = result;
  if (content.length === 0 && !isTold(result.finishReason)) throw new Error("The answer is empty");
  return completionOf({
    id: response?.id ?? newAnswerId(),
    model: response?.modelId ?? model,
    text: joined(content, "text"),
    reasoning: joined(content, "reasoning"),
    toolCalls: content.filter(isOwnToolCall).map(toolCallOf),
    finishReason: finishReason(result.finishReason),
    usage: usage(result.usage),
  });
}

/** A `fetch` that fails for an answer that tells of an error. */
function forAnswer(fetch: Fetch): Fetch {
  return async (input, init) => {
    const text = await (await fetch(input, init)).text();
    requireNoError(parseJson(text));
    return await answered(text);
  };
}

/** A `fetch` that also fails for an answer that is no stream, and keeps its text. */
function forStream(fetch: Fetch, whole: { text?: string }): Fetch {
  return async (input, init) => {
    const answer = await opened(await fetch(input, init));
    if (answer.kind === "stream") return answer.response;
    requireNoError(parseJson(answer.text));
    whole.text = answer.text;
    throw new Error("The answer is no stream");
  };
}

function answered(text: string): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return Promise.resolve(new Response(text, { headers }));
}

/** Reports what a provider's library cannot express as the caller's mistake. */
async function sayable<Result>(call: () => PromiseLike<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (isApiError(error) && error.statusCode >= 400) {
      throw new ToldError(parseJson(error.responseBody ?? ""), error.statusCode);
    }
    const refused = error instanceof Error &&
      /^AI_(Unsupported|Invalid(Prompt|Argument))/.test(error.name);
    throw refused ? new Invalid(`This backend cannot take the request: ${error.message}`) : error;
  }
}

/** An error that a library made of the first event of a stream. */
function isApiError(
  error: unknown,
): error is { readonly statusCode: number; readonly responseBody?: string } {
  return error instanceof Error && error.name === "AI_APICallError" && "statusCode" in error &&
    typeof error.statusCode === "number";
}

type Part = LanguageModelV4StreamPart;
type ToolCallPart = Extract<Part, { type: "tool-call" }>;
type TextKind = "text" | "reasoning";

/** Converts the parts of a stream into chunks, starting with the model's first output. */
class StreamTranslation {
  #head: Pick<Answer, "id" | "model">;
  #chunks: Chunks | null = null;
  /** The index of each call of a tool whose arguments come in pieces. */
  readonly #toolCalls = new Map<string, number>();

  constructor(model: string) {
    this.#head = { id: newAnswerId(), model };
  }

  *translate(part: Part): Generator<JsonObject> {
    switch (part.type) {
      case "raw":
        requireNoError(part.rawValue);
        break;
      case "response-metadata":
        this.#head = { id: part.id ?? this.#head.id, model: part.modelId ?? this.#head.model };
        break;
      case "text-delta":
        yield this.#answer.text(part.delta);
        break;
      case "reasoning-delta":
        yield this.#answer.reasoning(part.delta);
        break;
      case "tool-input-start":
        if (part.providerExecuted === true) break;
        yield this.#begin({
          id: part.id,
          name: part.toolName,
          arguments: "",
          extra: part.providerMetadata,
        });
        break;
      case "tool-input-delta": {
        const index = this.#toolCalls.get(part.id);
        if (index !== undefined) yield this.#answer.toolArguments(index, part.delta);
        break;
      }
      case "tool-call":
        if (!isOwnToolCall(part) || this.#toolCalls.has(part.toolCallId)) break;
        yield this.#begin(toolCallOf(part));
        break;
      case "finish":
        if (!isTold(part.finishReason)) throw cutShort();
        yield* this.#answer.finish(finishReason(part.finishReason), usage(part.usage));
        break;
      case "error":
        throw part.error;
    }
  }

  get #answer(): Chunks {
    return this.#chunks ??= new Chunks(this.#head);
  }

  #begin(call: ToolCall): JsonObject {
    const { index, chunk } = this.#answer.toolCall(call);
    this.#toolCalls.set(call.id, index);
    return chunk;
  }
}

function joined(content: readonly { type: string }[], kind: TextKind): string {
  return content
    .filter((part): part is { type: TextKind; text: string } => part.type === kind)
    .map((part) => part.text).join("");
}

/** Whether a part calls a tool that the caller runs. */
function isOwnToolCall(part: { type: string }): part is ToolCallPart {
  return part.type === "tool-call" && (part as ToolCallPart).providerExecuted !== true;
}

function toolCallOf({ toolCallId, toolName, input, providerMetadata }: ToolCallPart): ToolCall {
  return { id: toolCallId, name: toolName, arguments: input, extra: providerMetadata };
}

/** Whether the provider reported the end; otherwise the stream just ended. */
function isTold({ unified, raw }: LanguageModelV4FinishReason): boolean {
  return unified !== "other" || raw !== undefined;
}

function finishReason({ unified }: LanguageModelV4FinishReason): FinishReason {
  switch (unified) {
    case "length":
      return "length";
    case "tool-calls":
      return "tool_calls";
    case "content-filter":
      return "content_filter";
    default:
      return "stop";
  }
}

function usage({ inputTokens, outputTokens }: LanguageModelV4Usage): DetailedUsage {
  return {
    prompt: inputTokens.total ?? null,
    completion: outputTokens.total ?? null,
    cached: inputTokens.cacheRead,
    written: inputTokens.cacheWrite || undefined,
    reasoning: outputTokens.reasoning,
  };
}
