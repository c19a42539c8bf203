/** Calls of models whose costs a test knows. */
import { countedAnswer } from "../../services/models/llm/support/counted_answers.ts";
import { FakeProvider } from "../../services/models/llm/support/provider.ts";
import { type TestApi, withApi } from "../../support/scenarios.ts";

export const COMPLETE = "POST /v1/llm/complete";

export const OPENAI_COMPLETE = "POST /v1/llm/openai/chat/completions";

export const MESSAGES = [{ role: "user", content: "hello" }];

export const DAY = 86_400_000;

export interface Sums {
  readonly calls: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micro_usd: number;
  readonly unpriced_calls: number;
  readonly estimated_tokens: number;
}

export interface Usage {
  readonly groups: readonly (Sums & { readonly name: string })[];
  readonly left_out: number;
  readonly total: Sums;
}

export async function usage(api: TestApi, query: string): Promise<Usage> {
  return await api.answer(`GET /v1/llm/usage?${query}`) as Usage;
}

/** Names of groups with their calls and their cost. */
export async function groups(api: TestApi, query: string): Promise<unknown[]> {
  const { groups } = await usage(api, query);
  return groups.map(({ name, calls, cost_micro_usd: cost }) => [name, calls, cost]);
}

/** Runs a test with one backend `main` of OpenAI's kind, each of whose calls costs 95 millionths. */
export async function withLedger(
  run: (api: TestApi, provider: FakeProvider) => Promise<void>,
  llm: object = {},
): Promise<void> {
  await using provider = new FakeProvider((request) => {
    const { model } = request.body as { model: string };
    return model === "refused"
      ? Response.json({ error: { message: "no such model" } }, { status: 404 })
      : countedAnswer("openai", request);
  });
  const backends = [{ name: "main", provider: "openai", base_url: provider.url }];
  const config = { llm: { backends, ...llm } };
  await withApi((api) => run(api, provider), { config });
}

/** Sends a call and waits for its end. */
export async function call(api: TestApi, more: object = {}, request = COMPLETE): Promise<number> {
  const body = { messages: MESSAGES, model: "gpt-5", ...more };
  const response = await api.send({ who: "writer", request, body });
  await response.text();
  return response.status;
}
