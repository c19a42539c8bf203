import type { ProviderApi } from "../catalog.ts";
import type { ChatApi } from "../chat/chat.ts";
import { isObject, type JsonObject } from "../json.ts";
import {
  countOf,
  nameOf,
  type Report,
  tokensOf,
  tokensOfAnswer,
  type TokenUsage,
  UNKNOWN_USAGE,
} from "../report.ts";
import type { Format, ModelApi, ModelCall } from "./format.ts";

/** The common chat-completions format. Every provider is called in it; some of them by a translation. */
export const chat = Object.freeze<Format>({
  isOf: () => false,
  forecast: ({ messages, tools, max_completion_tokens: limit, max_tokens: most }) => ({
    input: tokensOf([messages, tools ?? null]),
    output: tokensOfAnswer(limit ?? most),
  }),
  open: async ({ api }) => asModelApi(await chatApi(api)),
});

/** The providers' libraries are loaded on demand. */
export async function chatApi(api: ProviderApi): Promise<ChatApi> {
  switch (api) {
    case "openai":
      return (await import("../chat/openai.ts")).openai;
    case "anthropic":
      return await (await import("../chat/providers.ts")).anthropic();
    case "gemini":
      return await (await import("../chat/providers.ts")).gemini();
    case "bedrock":
      return await (await import("../chat/providers.ts")).bedrock();
    case "ollama":
      return (await import("../chat/ollama.ts")).ollama;
  }
}

function asModelApi(api: ChatApi): ModelApi {
  return {
    async complete(call) {
      const answer = await api.complete(call);
      return { report: reportOf(answer), text: JSON.stringify(answer) };
    },

    async *stream(call) {
      const isUsageWanted = wantsUsage(call);
      for await (const chunk of api.stream(call)) {
        const isHidden = !isUsageWanted && isUsageAlone(chunk);
        yield {
          report: reportOf(chunk),
          events: isHidden ? [] : [{ name: null, data: JSON.stringify(chunk) }],
          begins: saysSomething(chunk),
          isLast: false,
        };
      }
    },
  };
}

function wantsUsage({ request: { stream_options: options } }: ModelCall): boolean {
  return isObject(options) && options["include_usage"] === true;
}

function isUsageAlone({ usage, choices }: JsonObject): boolean {
  return isObject(usage) && Array.isArray(choices) && choices.length === 0;
}

/** Whether a chunk has a part of the answer, beyond its role, or its end. */
function saysSomething({ choices }: JsonObject): boolean {
  return Array.isArray(choices) && choices.some((choice) => {
    if (!isObject(choice)) return false;
    const { delta, finish_reason: reason } = choice;
    const said = isObject(delta) ? Object.entries(delta) : [];
    return typeof reason === "string" ||
      said.some(([key, value]) => key !== "role" && value !== "" && value !== null);
  });
}

/** What a `chat.completion` object, or a chunk of one, tells of its call. */
export function reportOf(answer: JsonObject): Report {
  const { model, usage, service_tier: tier, choices } = answer;
  const said = Array.isArray(choices) ? choices.filter(isObject) : [];
  return {
    usage: usageIn(usage, { input: "prompt_tokens", output: "completion_tokens" }),
    model: nameOf(model),
    isUsualTier: isUsual(tier),
    characters: said.reduce((sum, { message, delta }) => sum + lengthOf(message ?? delta), 0),
    isFailure: false,
  };
}

/**
 * What OpenAI's APIs say of tokens.
 *
 * @param names of the counts; the details of the input are beside it
 */
export function usageIn(
  usage: unknown,
  { input, output }: Readonly<Record<"input" | "output", string>>,
): TokenUsage {
  if (!isObject(usage)) return UNKNOWN_USAGE;
  const details = usage[`${input}_details`];
  return {
    prompt: countOf(usage[input]),
    completion: countOf(usage[output]),
    cached: isObject(details) ? countOf(details["cached_tokens"]) : null,
    written: isObject(details) ? countOf(details["cache_write_tokens"]) : null,
    writtenLong: null,
  };
}

/** Whether OpenAI's price for a tier is the usual one; null if the answer names no tier. */
export function isUsual(tier: unknown): boolean | null {
  return typeof tier === "string" ? tier === "default" || tier === "auto" : null;
}

function lengthOf(said: unknown): number {
  if (!isObject(said)) return 0;
  const { content, reasoning_content: reasoning, tool_calls: calls } = said;
  const texts = [content, reasoning].map((text) => typeof text === "string" ? text.length : 0);
  const tools = Array.isArray(calls) && calls.length > 0 ? JSON.stringify(calls).length : 0;
  return texts.reduce((sum, length) => sum + length, tools);
}
