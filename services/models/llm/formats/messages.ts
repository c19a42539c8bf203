import { keyOf, versioned } from "../chat/chat.ts";
import { isObject, type JsonObject, parseObject } from "../json.ts";
import {
  countOf,
  nameOf,
  NOTHING_TOLD,
  type Report,
  tokensOf,
  tokensOfAnswer,
  type TokenUsage,
  UNKNOWN_USAGE,
} from "../report.ts";
import type { Format, ModelCall } from "./format.ts";
import { chatApi } from "./chat.ts";
import { type PassedApi, passing } from "./passage.ts";
import { translating } from "./translation.ts";

/** The version of Anthropic's API for clients that name none. */
const VERSION = "2023-06-01";

/** Anthropic's Messages API. */
export const messages = Object.freeze<Format>({
  isOf: ({ api }) => api === "anthropic",
  forecast: ({ system, messages, tools, max_tokens: most }) => ({
    input: tokensOf([system ?? null, messages, tools ?? null]),
    output: tokensOfAnswer(most),
  }),
  open: async ({ api }) => {
    if (api === "anthropic") return passing(anthropic);
    const { messagesTranslation } = await import("./messages_translation.ts");
    return translating(await chatApi(api), messagesTranslation);
  },
});

const anthropic: PassedApi = {
  target: (call) => ({
    url: `${versioned(call.endpoint.baseUrl, "v1")}/messages`,
    headers: headersFor(call),
  }),
  reportOf: (answer) => answer["type"] === "message" ? reportOf(answer) : null,
  newReader() {
    let usage: JsonObject = {};
    return (event) => {
      const { type, message, delta, usage: told } = event;
      switch (type) {
        case "message_start": {
          if (!isObject(message)) break;
          const report = reportOf(message);
          if (isObject(message["usage"])) usage = message["usage"];
          // The tokens of an answer that only begins.
          return goesOn({ ...report, usage: { ...report.usage, completion: null } });
        }
        case "message_delta":
          if (!isObject(told)) break;
          usage = { ...usage, ...withoutNulls(told) };
          return goesOn({ ...NOTHING_TOLD, usage: usageOf(usage) });
        case "content_block_delta":
          return goesOn({ ...NOTHING_TOLD, characters: lengthOf(delta) });
        case "message_stop":
          return { report: NOTHING_TOLD, isEnd: true };
        case "error":
          return { report: { ...NOTHING_TOLD, isFailure: true }, isEnd: true };
      }
      return goesOn(NOTHING_TOLD);
    };
  },
};

/** How many tokens a request has. */
export interface TokenCount {
  readonly input_tokens: number;
}

/** Has the provider count the tokens of a request. */
export async function countTokens(call: ModelCall): Promise<TokenCount> {
  const { url, headers } = anthropic.target(call);
  const response = await call.fetch(`${url}/count_tokens`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(call.request),
  });
  const count = countOf(parseObject(await response.text())["input_tokens"]);
  if (count === null) throw new Error("The answer has no count");
  return { input_tokens: count };
}

function headersFor({ endpoint, headers }: ModelCall) {
  const { "anthropic-version": version = VERSION, "anthropic-beta": beta } = headers;
  return {
    "x-api-key": keyOf(endpoint),
    "anthropic-version": version,
    ...beta === undefined ? {} : { "anthropic-beta": beta },
  };
}

function goesOn(report: Report) {
  return { report, isEnd: false };
}

/** What a message tells: whole, or at its start. */
function reportOf({ model, usage, content }: JsonObject): Report {
  return {
    usage: isObject(usage) ? usageOf(usage) : UNKNOWN_USAGE,
    model: nameOf(model),
    isUsualTier: isObject(usage) ? isUsual(usage) : null,
    characters: Array.isArray(content) ? content.reduce((sum, one) => sum + lengthOf(one), 0) : 0,
    isFailure: false,
  };
}

/** Anthropic counts what it reads from its cache, and writes to it, beside the rest of the input. */
function usageOf(usage: JsonObject): TokenUsage {
  const fresh = countOf(usage["input_tokens"]);
  const cached = countOf(usage["cache_read_input_tokens"]);
  const written = countOf(usage["cache_creation_input_tokens"]);
  const { cache_creation: kinds } = usage;
  return {
    prompt: fresh === null ? null : fresh + (cached ?? 0) + (written ?? 0),
    completion: countOf(usage["output_tokens"]),
    cached,
    written,
    writtenLong: isObject(kinds) ? countOf(kinds["ephemeral_1h_input_tokens"]) : null,
  };
}

/** Whether there is no surcharge for a tier, for speed or for a place. */
function isUsual({ service_tier: tier, speed, inference_geo: place }: JsonObject): boolean {
  const is = (value: unknown, ...usual: readonly string[]) =>
    typeof value !== "string" || usual.includes(value);
  return is(tier, "standard") && is(speed, "standard") &&
    is(place, "", "global", "not_available");
}

function lengthOf(said: unknown): number {
  if (!isObject(said)) return 0;
  const { text, thinking, partial_json: json, input } = said;
  const texts = [text, thinking, json].map((part) => typeof part === "string" ? part.length : 0);
  const called = isObject(input) ? JSON.stringify(input).length : 0;
  return texts.reduce((sum, length) => sum + length, called);
}

function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}
