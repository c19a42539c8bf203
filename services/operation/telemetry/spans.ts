import type { LedgerEntry } from "../../models/ledger/mod.ts";
import { VERSION } from "../../kernel/version.ts";

/** The conventions' names of providers that muster calls otherwise. */
const PROVIDERS: Readonly<Record<string, string>> = {
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  mistral: "mistral_ai",
  xai: "x_ai",
};

/** In the numbers of OTLP. */
const KIND_CLIENT = 3;
const STATUS_ERROR = 2;

/** A value of an attribute; integers are strings in the JSON of OTLP. */
type Value =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly boolValue: boolean };

interface Attribute {
  readonly key: string;
  readonly value: Value;
}

/** A span in the JSON of OTLP. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}

/** The span of a call, without anything that was asked or answered. */
export function spanOf(entry: LedgerEntry): Span {
  const { model, endedAt, milliseconds, outcome } = entry;
  return {
    traceId: randomHex(32),
    spanId: randomHex(16),
    name: model === null ? "chat" : `chat ${model}`,
    kind: KIND_CLIENT,
    startTimeUnixNano: nanoseconds(endedAt - milliseconds),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: attributesOf(entry),
    status: outcome === "failed" ? { code: STATUS_ERROR } : {},
  };
}

/** The body of a request that exports spans. */
export function requestOf(spans: readonly Span[]): string {
  return JSON.stringify({
    resourceSpans: [{
      resource: {
        attributes: attributes({ "service.name": "muster", "service.version": VERSION }),
      },
      scopeSpans: [{ scope: { name: "muster.llm", version: VERSION }, spans }],
    }],
  });
}

function attributesOf(
  { provider, address, model, responseModel, streamed, tokens, error, outcome, ...entry }:
    LedgerEntry,
): Attribute[] {
  const url = URL.parse(address);
  return attributes({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": PROVIDERS[provider] ?? provider,
    "gen_ai.request.model": model,
    "gen_ai.request.stream": streamed,
    "gen_ai.response.model": responseModel,
    "gen_ai.usage.input_tokens": tokens.input,
    "gen_ai.usage.output_tokens": tokens.output,
    "gen_ai.usage.cache_read.input_tokens": tokens.cached,
    "gen_ai.usage.cache_creation.input_tokens": tokens.written,
    "gen_ai.agent.name": entry.spender.isAgent ? entry.spender.name : null,
    "server.address": url?.hostname ?? null,
    "server.port": url === null ? null : portOf(url),
    "error.type": outcome === "failed" ? error ?? "_OTHER" : null,
    "muster.caller": entry.spender.name,
    "muster.backend": entry.backend,
    "muster.outcome": outcome,
    "muster.project": entry.work?.project ?? null,
    "muster.ticket": entry.work?.ticket ?? null,
    "muster.cost_micro_usd": entry.cost,
  });
}

/** Attributes of what is known. */
function attributes(values: Readonly<Record<string, string | number | boolean | null>>) {
  return Object.entries(values).flatMap(([key, value]): Attribute[] =>
    value === null ? [] : [{ key, value: valueOf(value) }]
  );
}

function valueOf(value: string | number | boolean): Value {
  switch (typeof value) {
    case "number":
      return { intValue: String(value) };
    case "boolean":
      return { boolValue: value };
    default:
      return { stringValue: value };
  }
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

function nanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds)) * 1_000_000n);
}

/** @param digits at most 32 */
function randomHex(digits: number): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, digits);
}
