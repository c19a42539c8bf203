import { z } from "zod";
import { Invalid } from "../../../kernel/errors.ts";
import { describeIssue } from "../../../kernel/validation/mod.ts";
import { isObject, type JsonObject, parseJson } from "../json.ts";
import { listOf } from "../lists.ts";

const text = z.object({ type: z.literal("text"), text: z.string() });
const refusal = z.object({ type: z.literal("refusal"), refusal: z.string() });
const image = z.object({
  type: z.literal("image_url"),
  image_url: z.object({ url: z.string() }),
});
const audio = z.object({
  type: z.literal("input_audio"),
  input_audio: z.object({ data: z.string(), format: z.string() }),
});
const file = z.object({
  type: z.literal("file"),
  file: z.object({ file_data: z.string(), filename: z.string().optional() }),
});

const texts = z.union([z.string(), listOf(text)]);

/** Provider-specific data of a part, under the provider's name; it is returned unchanged. */
const extra = z.record(z.string(), z.record(z.string(), z.json())).optional();

const toolCall = z.object({
  id: z.string(),
  type: z.literal("function").default("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
  extra_content: extra,
});

const message = z.discriminatedUnion("role", [
  z.object({ role: z.enum(["system", "developer"]), content: texts }),
  z.object({
    role: z.literal("user"),
    content: z.union([
      z.string(),
      listOf(z.discriminatedUnion("type", [text, image, audio, file])),
    ]),
  }),
  z.object({
    role: z.literal("assistant"),
    content: z.union([z.string(), listOf(z.discriminatedUnion("type", [text, refusal]))])
      .nullish(),
    tool_calls: listOf(toolCall).nullish(),
  }),
  z.object({ role: z.literal("tool"), tool_call_id: z.string(), content: texts }),
]);

const tool = z.object({
  type: z.literal("function"),
  function: z.object({
    name: z.string(),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.json()).optional(),
    strict: z.boolean().nullish(),
  }),
});

const toolChoice = z.union([
  z.enum(["auto", "none", "required"]),
  z.object({ type: z.literal("function"), function: z.object({ name: z.string() }) }),
]);

const responseFormat = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    json_schema: z.object({
      name: z.string(),
      description: z.string().optional(),
      schema: z.record(z.string(), z.json()).optional(),
    }),
  }),
]);

const count = z.int().min(1).nullish();
const number = z.number().nullish();

/** The parts of a chat-completions request that other APIs can express. */
const requestSchema = z.object({
  model: z.string().min(1).regex(/^(?!\/|.*(\.\.|\/\.?\/|\/\.?$))(?!\.\/)[^\s?#%\\\p{Cc}]+$/u, {
    error: "is no name of a model",
  }),
  messages: listOf(message).refine((list) => list.length > 0, { error: "must not be empty" }),
  max_tokens: count,
  max_completion_tokens: count,
  temperature: number,
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  stop: z.union([z.string(), listOf(z.string())]).nullish(),
  seed: z.int().nullish(),
  n: z.literal(1, { error: "must be 1: this backend's provider gives one choice" }).nullish(),
  tools: listOf(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  response_format: responseFormat.nullish(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).nullish(),
});

export type ReadRequest = z.infer<typeof requestSchema>;
export type Message = ReadRequest["messages"][number];
export type UserPart = Exclude<Extract<Message, { role: "user" }>["content"], string>[number];

/**
 * Parses a request that must be translated.
 *
 * @throws Invalid naming the field that is not of the common format
 */
export function readRequest(request: JsonObject): ReadRequest {
  const result = requestSchema.safeParse(request);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Invalid(issue === undefined ? "The request is not valid" : describeIssue(issue));
}

/** The text of a content that is a text or parts of one. */
export function textOf(content: z.infer<typeof texts>): string {
  return typeof content === "string" ? content : content.map((part) => part.text).join("");
}

/**
 * The arguments of a tool call, which are a text in the common format.
 *
 * @throws Invalid
 */
export function readArguments(text: string): JsonObject {
  const value = parseJson(text.trim() === "" ? "{}" : text);
  if (isObject(value)) return value;
  throw new Invalid('"messages": the arguments of a tool call must be a JSON object, as a text');
}

/** The base64 content of a `data:` URL, or null if the text is not such a URL. */
export function readDataUrl(text: string): { mediaType: string; base64: string } | null {
  const match = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^;,]+)*;base64,/.exec(text);
  if (match === null) return null;
  return { mediaType: match[1] ?? "", base64: text.slice(match[0].length) };
}
