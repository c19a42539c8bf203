import { createGoogle } from "@ai-sdk/google";
import { keyOf, versioned } from "./chat.ts";
import { languageModelApi } from "./language_model.ts";

/** The API of Gemini models. */
export const gemini = languageModelApi((model, { endpoint, fetch }) =>
  createGoogle({
    baseURL: versioned(endpoint.baseUrl, "v1beta"),
    apiKey: keyOf(endpoint),
    fetch,
  })(model)
);
