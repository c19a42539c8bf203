import assert from "node:assert/strict";
import type { Completion, CompletionRequest } from "../../../../../services/models/llm/mod.ts";
import {
  BY_OPERATOR,
  type TestServices,
  type TestServicesOptions,
  withServices,
} from "../../../../support/services.ts";

/** The key of every provider in these tests. */
export const KEY = "sk-test-0123456789abcdef-PLANTED/+=";

/** What tests look at in a completion or in a chunk of one. */
export interface Told {
  readonly choices: readonly {
    readonly message?: Said;
    readonly delta?: Said;
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Readonly<Record<string, unknown>> | null;
  readonly [field: string]: unknown;
}

interface Said {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly id?: string;
    readonly function: { readonly name?: string; readonly arguments: string };
    readonly extra_content?: unknown;
  }[];
}

/** Runs a test with one backend `main` at an address, whose key is {@link KEY}. */
export function withBackend(
  backend: {
    readonly provider: string;
    readonly base_url: string;
    readonly [more: string]: unknown;
  },
  run: (services: TestServices) => Promise<void>,
  options: TestServicesOptions & { readonly limits?: unknown } = {},
): Promise<void> {
  const { limits = {}, ...rest } = options;
  return withServices(run, {
    config: {
      llm: { backends: [{ name: "main", api_key_env: "TEST_KEY", ...backend }], limits },
    },
    environment: { TEST_KEY: KEY },
    ...rest,
  });
}

/** Has a model answer, as the operator who does not leave. */
export function complete(
  { llm }: TestServices,
  request: Readonly<Record<string, unknown>>,
  signal = new AbortController().signal,
): Promise<Completion> {
  const whole = { messages: [{ role: "user", content: "hello" }], model: "m", ...request };
  return llm.gateway.complete(whole as CompletionRequest, BY_OPERATOR, signal);
}

/** The answer as a whole. */
export async function answer(
  services: TestServices,
  request: Readonly<Record<string, unknown>>,
): Promise<Told> {
  const completion = await complete(services, request);
  assert.equal(completion.kind, "whole");
  return JSON.parse(completion.kind === "whole" ? completion.text : "");
}

/** Every chunk of the answer. */
export async function chunks(
  services: TestServices,
  request: Readonly<Record<string, unknown>>,
): Promise<Told[]> {
  const completion = await complete(services, { stream: true, ...request });
  assert.equal(completion.kind, "stream");
  const told: Told[] = [];
  if (completion.kind === "stream") {
    for await (const { data } of completion.events) told.push(JSON.parse(data));
  }
  return told;
}

/** What chunks come to when a client puts them together. */
export function assembled(told: readonly Told[]) {
  const deltas = told.flatMap(({ choices }) => choices.map(({ delta }) => delta ?? {}));
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const part of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const call = calls[part.index ?? 0] ??= { id: "", name: "", arguments: "" };
    call.id += part.id ?? "";
    call.name += part.function.name ?? "";
    call.arguments += part.function.arguments;
  }
  return {
    content: deltas.map(({ content }) => content ?? "").join(""),
    reasoning: deltas.map(({ reasoning_content: text }) => text ?? "").join(""),
    calls,
    finish: told.flatMap(({ choices }) => choices.map((choice) => choice.finish_reason))
      .filter((reason) => reason !== null),
    usage: told.map(({ usage }) => usage).findLast((usage) =>
      usage !== undefined && usage !== null
    ),
  };
}
