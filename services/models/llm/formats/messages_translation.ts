import { z } from "zod";
import { Invalid } from "../../../kernel/errors.ts";
import { describeIssue } from "../../../kernel/validation/mod.ts";
import { isObject, type JsonObject, parseJson } from "../json.ts";
import { listOf } from "../lists.ts";
import type { TokenUsage } from "../report.ts";
import type { ModelCall } from "./format.ts";
import type { SaidPart } from "./said_parts.ts";
import {
  type AnswerWriter,
  effortFor,
  type Ended,
  freshTokens,
  given,
  limitFor,
  SEAL,
  sealed,
  type Translation,
  type TypedEvent,
  unsealed,
} from "./translation.ts";

/** Anthropic's Messages API in terms of the common format. */
export const messagesTranslation = Object.freeze<Translation>({
  requestOf,
  newWriter: () => new MessageWriter(),
});

const block = z.looseObject({ type: z.string() });
const content = z.union([z.string(), listOf(block)]);

const requestSchema = z.looseObject({
  system: content.nullish(),
  messages: listOf(z.looseObject({
    role: z.enum(["user", "assistant", "system"]),
    content,
  })),
  tools: listOf(z.looseObject({ name: z.string() })).nullish(),
  tool_choice: z.looseObject({ type: z.string() }).nullish(),
});

type Block = z.infer<typeof block>;

function requestOf({ request, endpoint: { provider } }: ModelCall): JsonObject {
  const { data, error } = requestSchema.safeParse(request);
  if (error !== undefined) {
    const [issue] = error.issues;
    throw new Invalid(issue === undefined ? "The request is not valid" : describeIssue(issue));
  }
  const { system, messages, tools, tool_choice: choice } = data;
  const told = textOf(system ?? "");
  const functions = tools?.flatMap(toolOf) ?? [];
  return {
    model: request["model"],
    messages: [
      ...told === "" ? [] : [{ role: "system", content: told }],
      ...messages.flatMap(({ role, content }) => messagesOf(role, blocksOf(content))),
    ],
    ...limitFor(provider, request["max_tokens"]),
    ...given({
      stream: request["stream"],
      temperature: request["temperature"],
      top_p: request["top_p"],
      stop: request["stop_sequences"],
      tools: functions.length === 0 ? undefined : functions,
      tool_choice: functions.length === 0 ? undefined : toolChoiceOf(choice),
      reasoning_effort: effortFor(provider, request["model"], effortOf(request)),
      response_format: responseFormatOf(request),
    }),
  };
}

function blocksOf(content: string | Block[]): Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((one) =>
    isObject(one) && typeof one["text"] === "string" ? [one.text] : []
  )
    .join("\n\n");
}

function messagesOf(role: "user" | "assistant" | "system", blocks: readonly Block[]): JsonObject[] {
  // Many providers take texts of the system at the beginning alone.
  return role === "assistant" ? assistantMessages(blocks) : userMessages(blocks);
}

/** The results of tools come first: they answer the message before. */
function userMessages(blocks: readonly Block[]): JsonObject[] {
  const results = blocks.filter(({ type }) => type === "tool_result");
  const shown = results.flatMap(({ content }) => Array.isArray(content) ? content : [])
    .filter((one) => isObject(one) && one["type"] !== "text");
  const said = blocks.filter(({ type }) => type !== "tool_result");
  const parts = [...shown, ...said].flatMap(partOf);
  return [
    ...results.map(({ tool_use_id: id, content }) => ({
      role: "tool",
      tool_call_id: id,
      content: textOf(content),
    })),
    ...parts.length === 0 ? [] : [{ role: "user", content: parts }],
  ];
}

function partOf(part: Block): JsonObject[] {
  const { type, source, text, title } = part;
  switch (type) {
    case "text":
      return text === "" ? [] : [{ type, text }];
    case "image":
      return [{ type: "image_url", image_url: { url: urlOf(source, "image") } }];
    case "document": {
      if (isObject(source) && source["type"] === "text") {
        return [{ type: "text", text: source["data"] }];
      }
      if (isObject(source) && source["type"] === "content") {
        return [{ type: "text", text: textOf(source["content"]) }];
      }
      const file = { file_data: dataUrlOf(source), ...given({ filename: title }) };
      return [{ type: "file", file }];
    }
    case "search_result":
      return [{ type: "text", text: `${title ?? ""}\n${textOf(part["content"])}` }];
    case "tool_reference":
      return [];
    default:
      throw new Invalid(`"messages": this backend cannot take a block of the type "${type}"`);
  }
}

function urlOf(source: unknown, what: string): string {
  if (isObject(source) && source["type"] === "url" && typeof source["url"] === "string") {
    return source["url"];
  }
  return dataUrlOf(source, what);
}

function dataUrlOf(source: unknown, what = "document"): string {
  const { type, media_type: media, data } = isObject(source) ? source : {};
  if (type === "base64" && typeof data === "string") return `data:${media};base64,${data}`;
  throw new Invalid(`"messages": this backend takes the content of a ${what} alone`);
}

function assistantMessages(blocks: readonly Block[]): JsonObject[] {
  const extras = unsealed(blocks.map(({ data }) => data));
  const calls = blocks.filter(({ type }) => type === "tool_use").map(({ id, name, input }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input ?? {}) },
    ...given({ extra_content: extras.get(String(id)) }),
  }));
  const said = textOf(blocks.filter(({ type }) => type === "text"));
  // Others' signatures mean nothing here.
  const thought = blocks.filter(({ type, signature }) => type === "thinking" && signature === SEAL)
    .map(({ thinking }) => thinking).join("\n\n");
  if (said === "" && calls.length === 0) return [];
  return [{
    role: "assistant",
    content: said === "" ? null : said,
    ...thought === "" ? {} : { reasoning_content: thought },
    ...calls.length === 0 ? {} : { tool_calls: calls },
  }];
}

/** Tools that a provider runs itself have no schema, and other providers do not know them. */
function toolOf({ name, description, input_schema: parameters, strict }: JsonObject): JsonObject[] {
  if (!isObject(parameters)) return [];
  return [{ type: "function", function: { name, ...given({ description, parameters, strict }) } }];
}

function toolChoiceOf(choice: JsonObject | null | undefined): unknown {
  switch (choice?.["type"]) {
    case "any":
      return "required";
    case "none":
      return "none";
    case "tool":
      return { type: "function", function: { name: choice["name"] } };
    default:
      return undefined;
  }
}

function effortOf({ thinking, output_config: output }: JsonObject): unknown {
  if (!isObject(thinking) || thinking["type"] === "disabled") return undefined;
  const { effort } = isObject(output) ? output : {};
  if (effort !== undefined) return effort === "max" ? "xhigh" : effort;
  const { budget_tokens: budget } = thinking;
  if (typeof budget !== "number") return undefined;
  return budget <= 4096 ? "low" : budget <= 16_384 ? "medium" : "high";
}

function responseFormatOf({ output_config: output }: JsonObject): JsonObject | undefined {
  const { format } = isObject(output) ? output : {};
  if (!isObject(format) || format["type"] !== "json_schema") return undefined;
  return { type: "json_schema", json_schema: { name: "answer", schema: format["schema"] } };
}

/** Writes a message, or its events. */
class MessageWriter implements AnswerWriter {
  readonly #id = `msg_${crypto.randomUUID().replaceAll("-", "")}`;
  /** Blocks that have begun. */
  #blocks = 0;

  start(model: string): TypedEvent[] {
    const message = this.#message(model, [], null, { input_tokens: 0, output_tokens: 0 });
    return [{ type: "message_start", message }];
  }

  step(step: Parameters<AnswerWriter["step"]>[0]): TypedEvent[] {
    const { type, part } = step;
    const index = this.#blocks - 1;
    switch (type) {
      case "begin":
        return [...part.extra === null ? [] : this.#seal(part), this.#begin(emptyBlock(part))];
      case "more":
        return [{ type: "content_block_delta", index, delta: deltaOf(part, step.text) }];
      case "end":
        return [
          ...part.kind === "reasoning"
            ? [{
              type: "content_block_delta",
              index,
              delta: { type: "signature_delta", signature: SEAL },
            }]
            : [],
          { type: "content_block_stop", index },
        ];
    }
  }

  end({ finishReason, usage }: Ended): TypedEvent[] {
    return [
      {
        type: "message_delta",
        delta: { stop_reason: stopReasonOf(finishReason), stop_sequence: null },
        usage: usageOf(usage),
      },
      { type: "message_stop" },
    ];
  }

  whole({ parts, finishReason, model, usage }: Ended): JsonObject {
    const content = parts.flatMap((part) => [
      ...part.extra === null ? [] : [sealedBlock(part)],
      wholeBlock(part),
    ]);
    return this.#message(model, content, stopReasonOf(finishReason), usageOf(usage));
  }

  #message(model: string, content: JsonObject[], stop: string | null, usage: JsonObject) {
    return {
      id: this.#id,
      type: "message",
      role: "assistant",
      model,
      content,
      stop_reason: stop,
      stop_sequence: null,
      usage,
    };
  }

  #seal(part: SaidPart): TypedEvent[] {
    const begin = this.#begin(sealedBlock(part));
    return [begin, { type: "content_block_stop", index: this.#blocks - 1 }];
  }

  #begin(content_block: JsonObject): TypedEvent {
    return { type: "content_block_start", index: this.#blocks++, content_block };
  }
}

/** A block that clients send back as it is. */
function sealedBlock({ id, extra }: SaidPart): JsonObject {
  return { type: "redacted_thinking", data: sealed({ [id]: extra ?? {} }) };
}

function emptyBlock({ kind, id, name }: SaidPart): JsonObject {
  switch (kind) {
    case "reasoning":
      return { type: "thinking", thinking: "", signature: "" };
    case "text":
      return { type: "text", text: "" };
    case "call":
      return { type: "tool_use", id, name, input: {} };
  }
}

function wholeBlock({ kind, id, name, text }: SaidPart): JsonObject {
  switch (kind) {
    case "reasoning":
      return { type: "thinking", thinking: text, signature: SEAL };
    case "text":
      return { type: "text", text };
    case "call": {
      const input = parseJson(text);
      return { type: "tool_use", id, name, input: isObject(input) ? input : {} };
    }
  }
}

function deltaOf({ kind }: SaidPart, text: string): JsonObject {
  switch (kind) {
    case "reasoning":
      return { type: "thinking_delta", thinking: text };
    case "text":
      return { type: "text_delta", text };
    case "call":
      return { type: "input_json_delta", partial_json: text };
  }
}

function stopReasonOf(reason: string | null): string {
  switch (reason) {
    case "length":
      return "max_tokens";
    case "tool_calls":
      return "tool_use";
    case "content_filter":
      return "refusal";
    default:
      return "end_turn";
  }
}

function usageOf(usage: TokenUsage): JsonObject {
  return {
    input_tokens: freshTokens(usage),
    cache_creation_input_tokens: usage.written ?? 0,
    cache_read_input_tokens: usage.cached ?? 0,
    output_tokens: usage.completion ?? 0,
  };
}
