/** An answer of every kind of API that took 20 tokens of input and 7 of output. */
import { awsEventStream, eventStream, jsonLines, type SeenRequest } from "./provider.ts";

/** The kinds of providers, with the model that each test asks. */
export const COUNTED_APIS = ["openai", "anthropic", "gemini", "bedrock", "ollama"] as const;

const OPENAI_USAGE = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 };
const ANTHROPIC = { id: "m", type: "message", role: "assistant", model: "x", stop_sequence: null };
const GEMINI = {
  candidates: [{
    content: { role: "model", parts: [{ text: "hi" }] },
    index: 0,
    finishReason: "STOP",
  }],
  usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 7, totalTokenCount: 27 },
  modelVersion: "x",
};
const BEDROCK_USAGE = { inputTokens: 20, outputTokens: 7, totalTokens: 27 };
const OLLAMA = { model: "x", created_at: "2026-11-20T12:00:00Z", done_reason: "stop" };
const OLLAMA_END = { ...OLLAMA, done: true, prompt_eval_count: 20, eval_count: 7 };

/** What the provider of a kind answers, whole or streamed. */
export function countedAnswer(
  kind: (typeof COUNTED_APIS)[number],
  { path, body }: Pick<SeenRequest, "path" | "body">,
): Response {
  const streamed = (body as { stream?: boolean }).stream === true || /stream/i.test(path);
  return (streamed ? STREAMED : WHOLE)[kind]();
}

const WHOLE = {
  openai: () =>
    Response.json({
      id: "x",
      model: "x",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage: OPENAI_USAGE,
    }),
  anthropic: () =>
    Response.json({
      ...ANTHROPIC,
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 20, output_tokens: 7 },
    }),
  gemini: () => Response.json(GEMINI),
  bedrock: () =>
    Response.json({
      output: { message: { role: "assistant", content: [{ text: "hi" }] } },
      stopReason: "end_turn",
      usage: BEDROCK_USAGE,
      metrics: { latencyMs: 5 },
    }),
  ollama: () => Response.json({ ...OLLAMA_END, message: { role: "assistant", content: "hi" } }),
};

const STREAMED = {
  openai: () =>
    eventStream([
      {
        id: "x",
        model: "x",
        choices: [{ index: 0, delta: { content: "hi" }, finish_reason: null }],
      },
      { id: "x", model: "x", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { id: "x", model: "x", choices: [], usage: OPENAI_USAGE },
    ], { done: true }),
  anthropic: () =>
    eventStream([
      {
        type: "message_start",
        message: {
          ...ANTHROPIC,
          content: [],
          stop_reason: null,
          usage: { input_tokens: 20, output_tokens: 1 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 7 },
      },
      { type: "message_stop" },
    ], { named: true }),
  gemini: () => eventStream([GEMINI]),
  bedrock: () =>
    awsEventStream([
      ["messageStart", { role: "assistant" }],
      ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hi" } }],
      ["contentBlockStop", { contentBlockIndex: 0 }],
      ["messageStop", { stopReason: "end_turn" }],
      ["metadata", { usage: BEDROCK_USAGE, metrics: { latencyMs: 9 } }],
    ]),
  ollama: () =>
    jsonLines([
      { ...OLLAMA, done: false, message: { role: "assistant", content: "hi" } },
      { ...OLLAMA_END, message: { role: "assistant", content: "" } },
    ]),
};
