import type { CompletionRequest } from "./schemas.ts";
import { isObject, type JsonObject } from "./json.ts";

/** How many characters of a text make a token, about. */
const CHARACTERS_OF_TOKEN = 4;

/** Tokens that an image or a file takes, about. */
const TOKENS_OF_FILE = 1000;

/** Tokens of an answer whose length the request does not limit, about. */
const USUAL_ANSWER = 1000;

/** The content of an image or a file in a request. */
const DATA_URL = /"(?:data:|[A-Za-z0-9+/]{1000})[^"]*"/g;

/** What a provider tells of a call beside its tokens, as far as it has answered. */
export class Told {
  /** The model that answered. */
  model: string | null = null;
  /** Whether it is billed at the usual rate. */
  isUsualTier = true;
  #characters = 0;

  /** Takes a `chat.completion` object, or a chunk of one. */
  take({ model, service_tier: tier, choices }: JsonObject): void {
    if (typeof model === "string" && model !== "") this.model = model;
    if (typeof tier === "string") this.isUsualTier = tier === "default" || tier === "auto";
    if (!Array.isArray(choices)) return;
    for (const choice of choices) {
      if (isObject(choice)) this.#characters += lengthOf(choice["message"] ?? choice["delta"]);
    }
  }

  /** Tokens of the answer so far, about. */
  get tokens(): number {
    return Math.ceil(this.#characters / CHARACTERS_OF_TOKEN);
  }
}

/** Tokens of a request's messages and tools, about. */
export function tokensOfRequest({ messages, ["tools"]: tools }: CompletionRequest): number {
  let files = 0;
  const text = JSON.stringify([messages, tools ?? null]).replace(DATA_URL, () => {
    files++;
    return "";
  });
  return Math.ceil(text.length / CHARACTERS_OF_TOKEN) + files * TOKENS_OF_FILE;
}

/** The most tokens that a request lets the answer have, or a usual number. */
export function tokensOfAnswer(request: CompletionRequest): number {
  const limit = request["max_completion_tokens"] ?? request["max_tokens"];
  return typeof limit === "number" && limit >= 0 ? limit : USUAL_ANSWER;
}

function lengthOf(said: unknown): number {
  if (!isObject(said)) return 0;
  const { content, reasoning_content: reasoning, tool_calls: calls } = said;
  const texts = [content, reasoning].map((text) => typeof text === "string" ? text.length : 0);
  const tools = Array.isArray(calls) && calls.length > 0 ? JSON.stringify(calls).length : 0;
  return texts.reduce((sum, length) => sum + length, tools);
}
