import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { Invalid } from "../../../kernel/errors.ts";
import {
  type Message,
  readArguments,
  readDataUrl,
  type ReadRequest,
  textOf,
  type UserPart,
} from "./request.ts";

/** The type of a field of the call options, if present. */
type Option<Name extends keyof LanguageModelV4CallOptions> = NonNullable<
  LanguageModelV4CallOptions[Name]
>;

/** Media types of the common format's audio formats. */
const AUDIO_TYPES: Readonly<Record<string, string>> = { wav: "audio/wav", mp3: "audio/mpeg" };

/**
 * A request for the AI SDK's providers.
 *
 * @throws Invalid if a part cannot be translated
 */
export function callOptions(request: ReadRequest): LanguageModelV4CallOptions {
  const options: { -readonly [Name in keyof LanguageModelV4CallOptions]: unknown } = {
    prompt: promptOf(request.messages),
    maxOutputTokens: request.max_completion_tokens ?? request.max_tokens,
    temperature: request.temperature,
    topP: request.top_p,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    stopSequences: typeof request.stop === "string" ? [request.stop] : request.stop,
    seed: request.seed,
    responseFormat: responseFormat(request.response_format),
    tools: tools(request.tools),
    toolChoice: toolChoice(request.tool_choice),
    reasoning: request.reasoning_effort,
  };
  const given = Object.entries(options).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as LanguageModelV4CallOptions;
}

function promptOf(messages: readonly Message[]): LanguageModelV4Prompt {
  const toolNames = new Map<string, string>();
  const prompt: LanguageModelV4Prompt = [];
  for (const message of messages) {
    if (message.role === "tool") {
      addToolResult(prompt, message, toolNames);
      continue;
    }
    if (message.role === "assistant") {
      for (const call of message.tool_calls ?? []) toolNames.set(call.id, call.function.name);
    }
    prompt.push(translate(message));
  }
  return prompt;
}

/** The results of tools that were called together belong in one message. */
function addToolResult(
  prompt: LanguageModelV4Prompt,
  message: Extract<Message, { role: "tool" }>,
  toolNames: ReadonlyMap<string, string>,
): void {
  const { tool_call_id: toolCallId, content } = message;
  const toolName = toolNames.get(toolCallId);
  if (toolName === undefined) {
    throw new Invalid(`"messages": no message before calls the tool "${toolCallId}"`);
  }
  const result: LanguageModelV4ToolResultPart = {
    type: "tool-result",
    toolCallId,
    toolName,
    output: { type: "text", value: textOf(content) },
  };
  const last = prompt.at(-1);
  if (last?.role === "tool") last.content.push(result);
  else prompt.push({ role: "tool", content: [result] });
}

function translate(message: Exclude<Message, { role: "tool" }>): LanguageModelV4Message {
  switch (message.role) {
    case "system":
    case "developer":
      return { role: "system", content: textOf(message.content) };
    case "user":
      return {
        role: "user",
        content: typeof message.content === "string"
          ? [{ type: "text", text: message.content }]
          : message.content.map(userPart),
      };
    case "assistant":
      return assistantMessage(message);
  }
}

function assistantMessage(
  { content, tool_calls: calls }: Extract<Message, { role: "assistant" }>,
): LanguageModelV4Message {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const said = (parts ?? []).map((part): LanguageModelV4TextPart => ({
    type: "text",
    text: part.type === "text" ? part.text : part.refusal,
  })).filter(({ text }) => text !== "");
  const called = (calls ?? []).map((call) => ({
    type: "tool-call" as const,
    toolCallId: call.id,
    toolName: call.function.name,
    input: readArguments(call.function.arguments),
    ...call.extra_content === undefined
      ? {}
      : { providerOptions: call.extra_content as Option<"providerOptions"> },
  }));
  return { role: "assistant", content: [...said, ...called] };
}

function userPart(part: UserPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image_url":
      return imagePart(part.image_url.url);
    case "input_audio": {
      const { data, format } = part.input_audio;
      const mediaType = AUDIO_TYPES[format] ?? `audio/${format}`;
      return { type: "file", mediaType, data: { type: "data", data } };
    }
    case "file": {
      const { file_data: url, filename } = part.file;
      const content = readDataUrl(url);
      if (content === null) throw new Invalid('"messages": file_data must be a data: URL');
      const { mediaType, base64: data } = content;
      const named = filename === undefined ? {} : { filename };
      return { type: "file", mediaType, data: { type: "data", data }, ...named };
    }
  }
}

/** An image in the request itself, or one that the provider fetches; muster never does. */
function imagePart(text: string): LanguageModelV4FilePart {
  const content = readDataUrl(text);
  if (content !== null) {
    const { mediaType, base64: data } = content;
    return { type: "file", mediaType, data: { type: "data", data } };
  }
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Invalid('"messages": image_url must be a data:, http: or https: URL');
  }
  return { type: "file", mediaType: "image/*", data: { type: "url", url } };
}

function responseFormat(
  format: ReadRequest["response_format"],
): Option<"responseFormat"> | undefined {
  switch (format?.type) {
    case undefined:
      return undefined;
    case "text":
      return { type: "text" };
    case "json_object":
      return { type: "json" };
    case "json_schema": {
      const { name, description, schema } = format.json_schema;
      return {
        type: "json",
        name,
        ...description === undefined ? {} : { description },
        ...schema === undefined ? {} : { schema },
      };
    }
  }
}

function tools(list: ReadRequest["tools"]): Option<"tools"> | undefined {
  return list?.map(({ function: { name, description, parameters, strict } }) => ({
    type: "function",
    name,
    ...description === undefined ? {} : { description },
    inputSchema: parameters ?? { type: "object", properties: {} },
    ...typeof strict === "boolean" ? { strict } : {},
  }));
}

function toolChoice(choice: ReadRequest["tool_choice"]): Option<"toolChoice"> | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === "string") return { type: choice };
  return { type: "tool", toolName: choice.function.name };
}
