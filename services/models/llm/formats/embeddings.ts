import { Invalid } from "../../../kernel/errors.ts";
import type { ProviderApi } from "../catalog.ts";
import { bearerHeaders, versioned } from "../chat/chat.ts";
import { isObject } from "../json.ts";
import { countOf, nameOf, NOTHING_TOLD, tokensOf, UNKNOWN_USAGE } from "../report.ts";
import type { Format } from "./format.ts";
import { type PassedApi, passing } from "./passage.ts";

/** Where each kind of provider takes embeddings in OpenAI's format; others take none. */
const PLACES: Partial<Record<ProviderApi, (baseUrl: string) => string>> = {
  openai: (baseUrl) => baseUrl,
  ollama: (baseUrl) => versioned(baseUrl, "v1"),
  gemini: (baseUrl) => `${versioned(baseUrl, "v1beta")}/openai`,
};

/** OpenAI's Embeddings API. */
export const embeddings = Object.freeze<Format>({
  isOf: ({ api }) => PLACES[api] !== undefined,
  forecast: ({ input }) => ({ input: tokensOf([input]), output: 0 }),
  open: ({ api, name }) => {
    const place = PLACES[api];
    if (place !== undefined) return Promise.resolve(passing(openai(place)));
    throw new Invalid(`A backend of the provider "${name}" makes no embeddings`);
  },
});

function openai(place: (baseUrl: string) => string): PassedApi {
  return {
    target: ({ endpoint }) => ({
      url: `${place(endpoint.baseUrl)}/embeddings`,
      headers: bearerHeaders(endpoint),
    }),
    reportOf({ data, model, usage }) {
      if (!Array.isArray(data)) return null;
      const prompt = isObject(usage) ? countOf(usage["prompt_tokens"]) : null;
      return {
        ...NOTHING_TOLD,
        usage: { ...UNKNOWN_USAGE, prompt, completion: 0 },
        model: nameOf(model),
      };
    },
    newReader: () => () => ({ report: NOTHING_TOLD, isEnd: false }),
  };
}
