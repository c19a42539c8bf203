import { createAnthropic } from "@ai-sdk/anthropic";
import { keyOf, versioned } from "./chat.ts";
import { languageModelApi } from "./language_model.ts";

/** Anthropic's Messages API. */
export const anthropic = languageModelApi((model, { endpoint, fetch }) =>
  createAnthropic({
    baseURL: versioned(endpoint.baseUrl, "v1"),
    apiKey: keyOf(endpoint),
    fetch,
  })(model)
);
