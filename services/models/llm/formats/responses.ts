import { Invalid } from "../../../kernel/errors.ts";
import { bearerHeaders } from "../chat/chat.ts";
import { isObject } from "../json.ts";
import { nameOf, NOTHING_TOLD, type Report, tokensOf, tokensOfAnswer } from "../report.ts";
import type { Format } from "./format.ts";
import { chatApi, isUsual, usageIn } from "./chat.ts";
import { type PassedApi, passing } from "./passage.ts";
import { translating } from "./translation.ts";

/** OpenAI's Responses API. */
export const responses = Object.freeze<Format>({
  isOf: ({ hasResponses }) => hasResponses,
  forecast: ({ instructions, input, tools, max_output_tokens: most }) => ({
    input: tokensOf([instructions ?? null, input, tools ?? null]),
    output: tokensOfAnswer(most),
  }),
  open: async ({ hasResponses, api }) => {
    if (hasResponses) return passing(openai);
    const { responsesTranslation } = await import("./responses_translation.ts");
    return translating(await chatApi(api), responsesTranslation);
  },
});

const openai: PassedApi = {
  target({ endpoint, request }) {
    if (request["background"] === true) {
      throw new Invalid('"background" must be false: nobody would learn what the call takes');
    }
    return { url: `${endpoint.baseUrl}/responses`, headers: bearerHeaders(endpoint) };
  },
  reportOf: (answer) => answer["object"] === "response" ? reportOf(answer) : null,
  newReader: () => ({ type, response, delta }) => {
    switch (type) {
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        // What it says was in events before.
        return { report: { ...reportOf(response), characters: 0 }, isEnd: true };
      case "error":
        return { report: { ...NOTHING_TOLD, isFailure: true }, isEnd: true };
    }
    const characters = typeof delta === "string" ? delta.length : 0;
    return { report: { ...NOTHING_TOLD, characters }, isEnd: false };
  },
};

/** What a response tells that is whole, or has ended. */
function reportOf(response: unknown): Report {
  if (!isObject(response)) return NOTHING_TOLD;
  const { model, usage, service_tier: tier, status, output } = response;
  return {
    usage: usageIn(usage, { input: "input_tokens", output: "output_tokens" }),
    model: nameOf(model),
    isUsualTier: isUsual(tier),
    characters: Array.isArray(output) ? JSON.stringify(output).length : 0,
    isFailure: status === "failed",
  };
}
