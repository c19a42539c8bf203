import { type ChatApi, keyOf, versioned } from "./chat.ts";
import { languageModelApi } from "./language_model.ts";

/** Anthropic's Messages API. */
export async function anthropic(): Promise<ChatApi> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  return languageModelApi((model, { endpoint, fetch }) =>
    createAnthropic({
      baseURL: versioned(endpoint.baseUrl, "v1"),
      apiKey: keyOf(endpoint),
      fetch,
    })(model)
  );
}

/** The API of Gemini models. */
export async function gemini(): Promise<ChatApi> {
  const { createGoogle } = await import("@ai-sdk/google");
  return languageModelApi((model, { endpoint, fetch }) =>
    createGoogle({
      baseURL: versioned(endpoint.baseUrl, "v1beta"),
      apiKey: keyOf(endpoint),
      fetch,
    })(model)
  );
}

/**
 * The Converse API of Amazon Bedrock. Every setting is given here, because the library would read
 * missing ones from the environment.
 */
export async function bedrock(): Promise<ChatApi> {
  const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
  return languageModelApi((model, { endpoint, fetch }) => {
    const { baseUrl: baseURL, region, credentials } = endpoint;
    const aws = credentials.kind === "aws"
      ? {
        accessKeyId: credentials.accessKeyId,
        secretAccessKey: credentials.secretAccessKey,
        ...credentials.sessionToken === null ? {} : { sessionToken: credentials.sessionToken },
      }
      : { accessKeyId: "", secretAccessKey: "" };
    return createAmazonBedrock({ baseURL, region, apiKey: keyOf(endpoint), ...aws, fetch })(model);
  });
}
