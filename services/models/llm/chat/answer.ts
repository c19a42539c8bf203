import { isObject, type JsonObject } from "../json.ts";
import type { TokenUsage } from "../report.ts";

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** A call of a tool, in the common format. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
  /** Opaque data that the provider needs again with the tool's result. */
  readonly extra?: JsonObject | undefined;
}

/** Tokens, with details from some providers. */
export interface DetailedUsage extends Pick<TokenUsage, "prompt" | "completion"> {
  readonly cached?: number | undefined;
  readonly written?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** The complete answer of a model. */
export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
  readonly usage: DetailedUsage;
}

/** The `chat.completion` object of an answer. */
export function completionOf(answer: Answer): JsonObject {
  const { id, model, text, reasoning, toolCalls, finishReason, usage } = answer;
  return {
    id,
    object: "chat.completion",
    created: now(),
    model,
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: text === "" && toolCalls.length > 0 ? null : text,
        ...reasoning === "" ? {} : { reasoning_content: reasoning },
        ...toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCallOf) },
      },
      logprobs: null,
      finish_reason: finishReason,
    }],
    ...usageField(usage),
  };
}

/** The `chat.completion.chunk` objects of a `chat.completion`, for a caller who wants a stream. */
export function* chunksOf({ choices, usage, ...rest }: JsonObject): Generator<JsonObject> {
  const head = { ...rest, object: "chat.completion.chunk" };
  const all = Array.isArray(choices) ? choices.filter(isObject) : [];
  const told = all.map(({ message, finish_reason: _, ...choice }, index) => ({
    index,
    ...choice,
    delta: deltaOf(message),
    finish_reason: null,
  }));
  yield { ...head, choices: told };
  const ends = all.map(({ index, finish_reason: reason }, position) => ({
    index: index ?? position,
    delta: {},
    finish_reason: reason ?? "stop",
  }));
  yield { ...head, choices: ends };
  if (isObject(usage)) yield { ...head, choices: [], usage };
}

/** A message as the delta of a stream, where calls of tools are numbered. */
function deltaOf(message: unknown): JsonObject {
  if (!isObject(message)) return {};
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  return { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) };
}

/** Creates the `chat.completion.chunk` objects of one streamed answer. */
export class Chunks {
  readonly #head: JsonObject;
  #toolCalls = 0;
  #begun = false;

  constructor(answer: Pick<Answer, "id" | "model">) {
    const { id, model } = answer;
    this.#head = { id, object: "chat.completion.chunk", created: now(), model };
  }

  text(text: string): JsonObject {
    return this.#delta({ content: text });
  }

  reasoning(text: string): JsonObject {
    return this.#delta({ reasoning_content: text });
  }

  /** Starts a tool call. Returns its index, for adding more of its arguments. */
  toolCall(call: ToolCall): { readonly index: number; readonly chunk: JsonObject } {
    const index = this.#toolCalls++;
    return { index, chunk: this.#delta({ tool_calls: [{ index, ...toolCallOf(call) }] }) };
  }

  toolArguments(index: number, text: string): JsonObject {
    return this.#delta({ tool_calls: [{ index, function: { arguments: text } }] });
  }

  /** The end of the answer, and its usage if known. */
  *finish(finishReason: FinishReason, usage: DetailedUsage): Generator<JsonObject> {
    yield this.#delta({}, finishReason);
    if (usage.prompt !== null || usage.completion !== null) {
      yield { ...this.#head, choices: [], ...usageField(usage) };
    }
  }

  #delta(delta: JsonObject, finishReason: FinishReason | null = null): JsonObject {
    const role = this.#begun ? {} : { role: "assistant" };
    this.#begun = true;
    const choice = { index: 0, delta: { ...role, ...delta }, finish_reason: finishReason };
    return { ...this.#head, choices: [choice] };
  }
}

/** An id for an answer without one from the provider. */
export function newAnswerId(): string {
  return `chatcmpl-${crypto.randomUUID()}`;
}

function toolCallOf({ id, name, arguments: text, extra }: ToolCall): JsonObject {
  return {
    id,
    type: "function",
    function: { name, arguments: text },
    ...extra === undefined ? {} : { extra_content: extra },
  };
}

function usageField({ prompt, completion, reasoning, ...details }: DetailedUsage): JsonObject {
  if (prompt === null && completion === null) return {};
  return {
    usage: {
      prompt_tokens: prompt ?? 0,
      completion_tokens: completion ?? 0,
      total_tokens: (prompt ?? 0) + (completion ?? 0),
      ...promptDetails(details),
      ...reasoning === undefined
        ? {}
        : { completion_tokens_details: { reasoning_tokens: reasoning } },
    },
  };
}

function promptDetails({ cached, written }: Pick<DetailedUsage, "cached" | "written">): JsonObject {
  if (cached === undefined && written === undefined) return {};
  return {
    prompt_tokens_details: {
      ...cached === undefined ? {} : { cached_tokens: cached },
      ...written === undefined ? {} : { cache_write_tokens: written },
    },
  };
}

/** Unix seconds. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}

/** Tells an answer that is JSON from one that is a stream. */

/** UTF-8's byte order mark, and the white space of JSON. */
const SKIPPED: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0a, 0x0d]);

/** `{` and `[`. No event of a stream begins with them, in any provider's format but Ollama's. */
const JSON_STARTS: ReadonlySet<number> = new Set([0x7b, 0x5b]);

/** An answer: as a whole, if it is JSON, or as a response whose body is still to be read. */
type Opened =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "stream"; readonly response: Response };

/** Reads the beginning of an answer, and all of it if it is JSON. Its type may be wrong. */
export async function opened(response: Response): Promise<Opened> {
  const reader = response.body?.getReader();
  const read: Uint8Array<ArrayBuffer>[] = [];
  let start: number | undefined;
  while (reader !== undefined && start === undefined) {
    const { value, done } = await reader.read();
    if (done) break;
    read.push(value);
    start = value.find((byte) => !SKIPPED.has(byte));
  }
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const first = read.shift();
      if (first !== undefined) return controller.enqueue(first);
      const next = await reader?.read();
      if (next === undefined || next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: (reason) => reader?.cancel(reason),
  }, { highWaterMark: 0 });
  const whole = new Response(body, { status: response.status, headers: response.headers });
  if (start === undefined || !JSON_STARTS.has(start)) return { kind: "stream", response: whole };
  return { kind: "whole", text: await whole.text() };
}
