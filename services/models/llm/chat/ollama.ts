import { type ChatRequest, type ChatResponse, Ollama } from "ollama/browser";
import { Invalid } from "../../../kernel/errors.ts";
import { type JsonObject, parseObject } from "../json.ts";
import { requireNoError } from "../told.ts";
import { Chunks, completionOf, type DetailedUsage, newAnswerId, type ToolCall } from "./answer.ts";
import { bearerHeaders, type ChatApi, type ChatCall } from "./chat.ts";
import {
  type Message,
  readArguments,
  readDataUrl,
  type ReadRequest,
  readRequest,
  textOf,
  type UserPart,
} from "./request.ts";

type OllamaMessage = NonNullable<ChatRequest["messages"]>[number];

/**
 * The chat API of Ollama. Uses the browser version of its library: the other one treats a text that
 * is a path on this machine as that file.
 */
export const ollama: ChatApi = Object.freeze({
  async complete(call: ChatCall): Promise<JsonObject> {
    const request = readRequest(call.request);
    const answer = await clientOf(call).chat({ ...translate(request), stream: false });
    const { content, thinking } = answer.message;
    const toolCalls = toolCallsOf(answer);
    return completionOf({
      id: newAnswerId(),
      model: answer.model,
      text: content,
      reasoning: thinking ?? "",
      toolCalls,
      finishReason: finishReason(answer, toolCalls.length > 0),
      usage: usage(answer),
    });
  },

  async *stream(call: ChatCall): AsyncGenerator<JsonObject> {
    const request = readRequest(call.request);
    const answers = await clientOf(call).chat({ ...translate(request), stream: true });
    const chunks = new Chunks({ id: newAnswerId(), model: request.model });
    let calledTools = false;
    for await (const answer of answers) {
      const { content, thinking } = answer.message;
      if (thinking) yield chunks.reasoning(thinking);
      if (content) yield chunks.text(content);
      for (const toolCall of toolCallsOf(answer)) {
        calledTools = true;
        yield chunks.toolCall(toolCall).chunk;
      }
      if (answer.done) yield* chunks.finish(finishReason(answer, calledTools), usage(answer));
    }
  },
});

function clientOf({ endpoint, fetch }: ChatCall): Ollama {
  // The library would add a key from the environment, and print what it cannot parse.
  const headers = { "content-type": "application/json", ...bearerHeaders(endpoint) };
  return new Ollama({
    host: endpoint.baseUrl,
    fetch: async (input, init) => {
      const response = await fetch(input, { ...init, headers });
      return new Response(response.body?.pipeThrough(wholeObjects()) ?? null, response);
    },
  });
}

/** Fails if a line of an answer is not a JSON object, or tells of an error. */
function wholeObjects(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  return new TransformStream({
    transform(bytes, controller) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.trim() === "") continue;
        requireNoError(parseObject(line));
        controller.enqueue(encoder.encode(`${line}\n`));
      }
    },
    flush(controller) {
      rest += decoder.decode();
      if (rest.trim() === "") return;
      requireNoError(parseObject(rest));
      controller.enqueue(encoder.encode(rest));
    },
  });
}

function translate(request: ReadRequest): ChatRequest {
  const { model, messages, tools, tool_choice: choice } = request;
  if (choice !== undefined && choice !== null && choice !== "auto" && choice !== "none") {
    throw new Invalid('"tool_choice": Ollama leaves the choice of a tool to the model');
  }
  return {
    model,
    messages: translateMessages(messages),
    ...tools && choice !== "none" ? { tools: tools as NonNullable<ChatRequest["tools"]> } : {},
    ...formatOf(request.response_format),
    ...thinkOf(request.reasoning_effort),
    options: optionsOf(request),
  };
}

function optionsOf(request: ReadRequest): NonNullable<ChatRequest["options"]> {
  const options = {
    num_predict: request.max_completion_tokens ?? request.max_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    presence_penalty: request.presence_penalty,
    frequency_penalty: request.frequency_penalty,
    stop: typeof request.stop === "string" ? [request.stop] : request.stop,
    seed: request.seed,
  };
  const given = Object.entries(options).filter(([, value]) => value !== null);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function formatOf(format: ReadRequest["response_format"]): Pick<ChatRequest, "format"> {
  switch (format?.type) {
    case "json_object":
      return { format: "json" };
    case "json_schema":
      return { format: format.json_schema.schema ?? "json" };
    default:
      return {};
  }
}

function thinkOf(effort: ReadRequest["reasoning_effort"]): Pick<ChatRequest, "think"> {
  switch (effort) {
    case undefined:
    case null:
      return {};
    case "none":
      return { think: false };
    case "minimal":
      return { think: "low" };
    case "xhigh":
      return { think: "high" };
    default:
      return { think: effort };
  }
}

function translateMessages(messages: readonly Message[]): OllamaMessage[] {
  const toolNames = new Map<string, string>();
  return messages.map((message) => {
    switch (message.role) {
      case "system":
      case "developer":
        return { role: "system", content: textOf(message.content) };
      case "user":
        return userMessage(message.content);
      case "assistant":
        for (const call of message.tool_calls ?? []) toolNames.set(call.id, call.function.name);
        return assistantMessage(message);
      case "tool": {
        const name = toolNames.get(message.tool_call_id) ?? "";
        return { role: "tool", content: textOf(message.content), tool_name: name };
      }
    }
  });
}

function userMessage(content: string | UserPart[]): OllamaMessage {
  if (typeof content === "string") return { role: "user", content };
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of content) {
    if (part.type === "text") texts.push(part.text);
    else images.push(imageOf(part));
  }
  return { role: "user", content: texts.join(""), ...images.length === 0 ? {} : { images } };
}

function imageOf(part: UserPart): string {
  const image = part.type === "image_url" ? readDataUrl(part.image_url.url) : null;
  if (image !== null) return image.base64;
  throw new Invalid('"messages": Ollama takes texts, and images as data: URLs');
}

function assistantMessage(
  { content, tool_calls: calls }: Extract<Message, { role: "assistant" }>,
): OllamaMessage {
  const texts = typeof content === "string"
    ? [content]
    : (content ?? []).map((part) => part.type === "text" ? part.text : part.refusal);
  const toolCalls = (calls ?? []).map(({ function: { name, arguments: text } }) => ({
    function: { name, arguments: readArguments(text) },
  }));
  const called = toolCalls.length === 0 ? {} : { tool_calls: toolCalls };
  return { role: "assistant", content: texts.join(""), ...called };
}

/** Ollama gives the calls of tools no ids; the common format needs them. */
function toolCallsOf({ message }: ChatResponse): ToolCall[] {
  return (message.tool_calls ?? []).map(({ function: { name, arguments: value } }) => ({
    id: `call_${crypto.randomUUID()}`,
    name,
    arguments: JSON.stringify(value),
  }));
}

function finishReason({ done_reason: reason }: ChatResponse, calledTools: boolean) {
  if (calledTools) return "tool_calls" as const;
  return reason === "length" ? "length" as const : "stop" as const;
}

function usage({ prompt_eval_count: prompt, eval_count: completion }: ChatResponse): DetailedUsage {
  return { prompt: prompt ?? null, completion: completion ?? null };
}
