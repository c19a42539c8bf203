/**
 * Calls of models in what clients export of themselves: OTLP over HTTP, in JSON.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
import { createHash } from "node:crypto";
import type { CallTokens } from "./prices.ts";

/** Most records of one export that are read; exporters send 512 at once. */
const MAX_RECORDS = 10_000;

/** Most calls of one export. */
const MAX_CALLS = 512;

/** Most attributes of a record that are read. */
const MAX_ATTRIBUTES = 200;

/** Most tokens of one call, and its highest cost in US dollars: more is a mistake. */
const MAX_TOKENS = 100_000_000;
const MAX_DOLLARS = 1000;

/** A call that a client made without the gateway, as it tells itself. */
export interface ReportedCall {
  readonly client: string;
  /** The provider whose prices fit. */
  readonly provider: string;
  readonly model: string | null;
  readonly tokens: CallTokens;
  /** In millionths of a US dollar; null if the client does not say. */
  readonly cost: number | null;
  /** Unix milliseconds; null if the client does not say. */
  readonly endedAt: number | null;
  readonly milliseconds: number;
  /** Of the record: an export that is sent again has the same. */
  readonly digest: string;
}

/** What an export tells. */
export interface Export {
  readonly calls: readonly ReportedCall[];
  /** Records of calls that are not counted. */
  readonly rejected: number;
}

type Attributes = ReadonlyMap<string, string | number | boolean>;

/** Where a client says what a call took. Counts of several attributes are added up. */
interface Names {
  readonly model: readonly string[];
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly cached: string;
  readonly written?: string;
  readonly dollars?: string;
  readonly milliseconds?: string;
}

interface ClientEvent extends Names {
  readonly client: string;
  readonly provider: string;
  /** An attribute that only the records of calls have. */
  readonly where?: readonly [name: string, value: string];
}

const GOOGLE: Names = {
  model: ["model"],
  input: ["input_token_count"],
  output: ["output_token_count", "thoughts_token_count"],
  cached: "cached_content_token_count",
  milliseconds: "duration_ms",
};

/** The events of clients that have names of their own. */
const EVENTS: Readonly<Record<string, ClientEvent>> = {
  "claude_code.api_request": {
    client: "claude-code",
    provider: "anthropic",
    model: ["model"],
    input: ["input_tokens", "cache_read_tokens", "cache_creation_tokens"],
    output: ["output_tokens"],
    cached: "cache_read_tokens",
    written: "cache_creation_tokens",
    dollars: "cost_usd",
    milliseconds: "duration_ms",
  },
  "codex.sse_event": {
    client: "codex",
    provider: "openai",
    where: ["event.kind", "response.completed"],
    model: ["model"],
    input: ["input_token_count"],
    output: ["output_token_count"],
    cached: "cached_token_count",
    written: "cache_write_token_count",
  },
  "gemini_cli.api_response": { ...GOOGLE, client: "gemini-cli", provider: "gemini" },
  "qwen-code.api_response": {
    ...GOOGLE,
    client: "qwen-code",
    provider: "qwen",
    output: ["output_token_count"],
  },
};

/** The conventions for generative AI, which other clients' spans follow. */
const CONVENTIONS: Names = {
  model: ["gen_ai.response.model", "gen_ai.request.model"],
  input: ["gen_ai.usage.input_tokens"],
  output: ["gen_ai.usage.output_tokens"],
  cached: "gen_ai.usage.cache_read.input_tokens",
  written: "gen_ai.usage.cache_creation.input_tokens",
};

/** Operations that are calls of models; others add up what these took. */
const MODEL_OPERATIONS: ReadonlySet<unknown> = new Set([
  "chat",
  "text_completion",
  "generate_content",
  "embeddings",
]);

/** Services whose calls are in their logs, so that their spans tell the same again. */
const IN_LOGS = /^(?:claude-code|codex|gemini-cli|qwen-code)/;

/**
 * Reads an export of logs. What is no call of a model is passed over: nothing of it is kept.
 *
 * @param resourceLogs of `ExportLogsServiceRequest`
 */
export function readLogs(resourceLogs: readonly unknown[]): Export {
  return read(resourceLogs, "scopeLogs", "logRecords", (record, attributes) => {
    const named = [record["eventName"], attributes.get("event.name"), textOf(record["body"])]
      .find((name) => typeof name === "string" && Object.hasOwn(EVENTS, name));
    const event = EVENTS[String(named)];
    if (event === undefined) return null;
    const { where } = event;
    if (where !== undefined && attributes.get(where[0]) !== where[1]) return null;
    // Codex leaves the first out.
    const time = timeOf(record["timeUnixNano"]) ?? timeOf(record["observedTimeUnixNano"]);
    return { names: event, client: event.client, provider: event.provider, endedAt: time };
  });
}

/**
 * Reads an export of spans, as {@link readLogs} reads logs.
 *
 * @param resourceSpans of `ExportTraceServiceRequest`
 */
export function readSpans(resourceSpans: readonly unknown[]): Export {
  return read(resourceSpans, "scopeSpans", "spans", (span, attributes, resource) => {
    if (!MODEL_OPERATIONS.has(attributes.get("gen_ai.operation.name"))) return null;
    if (IN_LOGS.test(String(resource.get("service.name") ?? ""))) return null;
    const provider = attributes.get("gen_ai.provider.name") ?? attributes.get("gen_ai.system");
    const endedAt = timeOf(span["endTimeUnixNano"]);
    const startedAt = timeOf(span["startTimeUnixNano"]);
    return {
      names: CONVENTIONS,
      client: "otel",
      provider: PROVIDERS[String(provider)] ?? String(provider ?? ""),
      endedAt,
      milliseconds: endedAt === null || startedAt === null ? 0 : endedAt - startedAt,
    };
  });
}

/** muster's names of providers that the conventions call otherwise. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "aws.bedrock": "bedrock",
  "gcp.gemini": "gemini",
  "gcp.gen_ai": "gemini",
  "mistral_ai": "mistral",
  "x_ai": "xai",
};

/** What a record is, if it is of a call. */
interface Found {
  readonly names: Names;
  readonly client: string;
  readonly provider: string;
  readonly endedAt: number | null;
  readonly milliseconds?: number;
}

type Find = (
  record: Readonly<Record<string, unknown>>,
  attributes: Attributes,
  resource: Attributes,
) => Found | null;

function read(resources: readonly unknown[], scopes: string, records: string, find: Find): Export {
  const calls: ReportedCall[] = [];
  let rejected = 0;
  let count = 0;
  for (const group of resources) {
    const resource = attributesOf(fieldOf(group, "resource"));
    for (const scope of listIn(group, scopes)) {
      for (const record of listIn(scope, records)) {
        if (++count > MAX_RECORDS) return { calls, rejected: rejected + 1 };
        const attributes = attributesOf(record);
        const found = isObject(record) ? find(record, attributes, resource) : null;
        // Codex tells the end of an answer twice, once without what it took.
        if (found === null || !tellsTokens(found.names, attributes)) continue;
        const call = calls.length < MAX_CALLS ? callOf(found, attributes, record) : null;
        if (call === null) rejected++;
        else calls.push(call);
      }
    }
  }
  return { calls, rejected };
}

function tellsTokens({ input, output }: Names, attributes: Attributes): boolean {
  return [...input, ...output].some((name) => attributes.has(name));
}

/** The call of a record; null if its numbers are none. */
function callOf(found: Found, attributes: Attributes, record: unknown): ReportedCall | null {
  const { names, client, provider, endedAt } = found;
  const sum = (of: readonly string[]) => {
    const known = of.map((name) => attributes.get(name)).filter((value) => value !== undefined);
    if (known.length === 0) return null;
    return known.reduce((total: number, value) => total + notNegative(Number(value)), 0);
  };
  const tokens = {
    input: sum(names.input),
    output: sum(names.output),
    cached: sum([names.cached]),
    written: names.written === undefined ? null : sum([names.written]),
    writtenLong: null,
  };
  const dollars = names.dollars === undefined ? null : sum([names.dollars]);
  const took = found.milliseconds ??
    (names.milliseconds === undefined ? 0 : sum([names.milliseconds]) ?? 0);
  const counts = [tokens.input, tokens.output, tokens.cached, tokens.written];
  if (!counts.every((count) => count === null || isCount(count))) return null;
  if (dollars !== null && !(dollars <= MAX_DOLLARS)) return null;
  const model = names.model.map((name) => attributes.get(name))
    .find((name) => typeof name === "string" && name !== "");
  return {
    client,
    provider,
    model: model === undefined ? null : String(model),
    tokens,
    cost: dollars === null ? null : Math.round(dollars * 1_000_000),
    endedAt,
    milliseconds: Number.isFinite(took) ? Math.min(Math.max(Math.round(took), 0), 86_400_000) : 0,
    digest: createHash("sha256").update(JSON.stringify(record)).digest("hex"),
  };
}

/** Not a number where it is below 0: the sum is none then. */
function notNegative(value: number): number {
  return value >= 0 ? value : NaN;
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS;
}

function attributesOf(holder: unknown): Attributes {
  const found = new Map<string, string | number | boolean>();
  for (const attribute of listIn(holder, "attributes").slice(0, MAX_ATTRIBUTES)) {
    const key = fieldOf(attribute, "key");
    const value = plainOf(fieldOf(attribute, "value"));
    if (typeof key === "string" && value !== null) found.set(key, value);
  }
  return found;
}

/** A value of an attribute; null for a list or an object. Integers may be texts. */
function plainOf(value: unknown): string | number | boolean | null {
  if (!isObject(value)) return null;
  const { stringValue, intValue, doubleValue, boolValue } = value;
  const plain = stringValue ?? intValue ?? doubleValue ?? boolValue;
  const isPlain = typeof plain === "string" || typeof plain === "number" ||
    typeof plain === "boolean";
  return isPlain ? plain : null;
}

function textOf(body: unknown): string | null {
  const text = fieldOf(body, "stringValue");
  return typeof text === "string" ? text : null;
}

/** Unix milliseconds of nanoseconds, which are a text or a number; null if there are none. */
function timeOf(nanoseconds: unknown): number | null {
  const time = typeof nanoseconds === "string" || typeof nanoseconds === "number"
    ? Math.round(Number(nanoseconds) / 1_000_000)
    : 0;
  return Number.isSafeInteger(time) && time > 0 ? time : null;
}

function listIn(holder: unknown, field: string): readonly unknown[] {
  const list = fieldOf(holder, field);
  return Array.isArray(list) ? list : [];
}

function fieldOf(holder: unknown, field: string): unknown {
  return isObject(holder) ? holder[field] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
