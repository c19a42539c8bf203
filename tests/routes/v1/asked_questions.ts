/** Questions over HTTP. */
import assert from "node:assert/strict";
import type { TestProject } from "../../support/projects.ts";
import type { TestApi } from "../../support/scenarios.ts";

/** A question as the API shows it, as far as these tests look at it. */
export interface ShownQuestion {
  readonly id: number;
  readonly deadline: string | null;
  readonly frozen_at: string | null;
  readonly ticket: string | null;
  readonly state: string;
  readonly answer: string | null;
  readonly answered_by: string | null;
  readonly via: string | null;
}

/** An entry of an inbox, as far as these tests look at it. */
export interface ShownEntry {
  readonly kind: string;
  readonly from: string;
  readonly account: string | null;
  readonly question: number;
  readonly text: string;
}

/** Calls the API with a value of `Authorization`. */
export async function call<Answer = ShownQuestion>(
  api: TestApi,
  request: string,
  as: string,
  body?: unknown,
) {
  const response = await api.send({
    who: "guest",
    request,
    headers: { authorization: as },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) as Answer };
}

/** Asks a question as the agent `caller`. */
export async function ask({ api, caller }: Pick<TestProject, "api" | "caller">, body: object) {
  const { status, json, text } = await call(api, "POST /v1/questions", caller, body);
  assert.equal(status, 201, text);
  return json;
}

/** The inbox of the agent `caller`, once the questions have reached it. */
export async function inboxOf(api: TestApi): Promise<readonly ShownEntry[]> {
  await api.services.questions.idle();
  return await api.answer("GET /v1/agents/caller/messages") as readonly ShownEntry[];
}
