import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { keyOf } from "./chat.ts";
import { languageModelApi } from "./language_model.ts";

/**
 * The Converse API of Amazon Bedrock. Every setting is given here, because the library would read
 * missing ones from the environment.
 */
export const bedrock = languageModelApi((model, { endpoint, fetch }) => {
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
