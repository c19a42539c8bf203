/** Answers of Anthropic's Messages API, with what only clients of that API read. */

/** An answer with thinking, a text and a call of a tool. */
export const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-opus-4-5-20251101",
  content: [
    { type: "thinking", thinking: "Let me see.", signature: "c2lnbmVk" },
    { type: "text", text: "I look." },
    { type: "tool_use", id: "toolu_1", name: "look", input: { at: "é" } },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: {
    input_tokens: 10,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 1000,
    cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
    output_tokens: 40,
    service_tier: "standard",
  },
};

/** What a call of that answer costs: input, cache reads, both kinds of cache writes, output. */
export const COST = 10 * 5 + 1000 * 0.5 + 100 * 6.25 + 200 * 10 + 40 * 25;

const START = {
  type: "message_start",
  message: {
    ...MESSAGE,
    content: [],
    stop_reason: null,
    usage: { ...MESSAGE.usage, output_tokens: 1 },
  },
};

/** Its events, as the API names and writes them. */
export const EVENTS: readonly string[] = [
  START,
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
  { type: "ping" },
  delta(0, { type: "thinking_delta", thinking: "Let me see." }),
  delta(0, { type: "signature_delta", signature: "c2lnbmVk" }),
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  delta(1, { type: "text_delta", text: "I look." }),
  { type: "content_block_stop", index: 1 },
  {
    type: "content_block_start",
    index: 2,
    content_block: { type: "tool_use", id: "toolu_1", name: "look", input: {} },
  },
  delta(2, { type: "input_json_delta", partial_json: '{"at": "' }),
  delta(2, { type: "input_json_delta", partial_json: 'é"}' }),
  { type: "content_block_stop", index: 2 },
  {
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { input_tokens: null, output_tokens: 40 },
  },
  { type: "message_stop" },
].map(written);

/** An event as the API writes it: with spaces that other programs would not write. */
export function written(
  event: { readonly type: string; readonly [field: string]: unknown },
): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event).replaceAll('":', '": ')}\n\n`;
}

function delta(index: number, delta: object) {
  return { type: "content_block_delta", index, delta };
}
