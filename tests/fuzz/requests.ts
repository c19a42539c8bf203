import fc from "fast-check";
import {
  type Document,
  type Endpoint,
  endpointsOf,
  type Parameter,
} from "../support/api_document.ts";
import { type Known, Values } from "./values.ts";

/** A request to send. */
export interface FuzzRequest {
  /** The endpoint that it is meant for; null if the document does not have it. */
  readonly endpoint: Endpoint | null;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Operations after which most others are refused or wait, and how much rarer they are. */
const ENDING: ReadonlySet<string> = new Set([
  "DELETE /v1/projects/{slug}",
  "POST /v1/pauses",
  "PATCH /v1/projects/{slug}",
]);
const RARITY = 20;

/** Longest parameter of a path or query. */
const MAX_PARAMETER = 300;

/**
 * Requests for every operation of a document: most of them right, many nearly so, some nonsense.
 *
 * @param credentials values of the header `Authorization`
 * @param known what the server has
 */
export function requestsFor(
  document: Document,
  credentials: readonly string[],
  known: Known = new Map(),
): fc.Arbitrary<FuzzRequest> {
  const values = new Values(document.components.schemas, known);
  const endpoints = endpointsOf(document);
  const headers = headersOf(credentials);
  return fc.oneof(
    ...endpoints.map((endpoint) => ({
      weight: ENDING.has(`${endpoint.method} ${endpoint.path}`) ? 1 : RARITY,
      arbitrary: requestFor(endpoint, values, headers),
    })),
    { weight: 2 * RARITY, arbitrary: strayRequest(headers) },
  );
}

function requestFor(
  endpoint: Endpoint,
  values: Values,
  headers: fc.Arbitrary<Record<string, string>>,
): fc.Arbitrary<FuzzRequest> {
  const { method, path, parameters = [] } = endpoint;
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const inHeader = parameters.filter((parameter) => parameter.in === "header");
  return fc.record({
    names: fc.tuple(...inPath.map((parameter) => pathParameter(parameter, values))),
    query: fc.tuple(...inQuery.map((parameter) => queryParameter(parameter, values))),
    more: fc.tuple(...inHeader.map((parameter) => queryParameter(parameter, values))),
    body: method === "GET" ? fc.constant(null) : bodyOf(endpoint, values),
    headers,
  }).map(({ names, query, more, body, headers: common }) => {
    const filled = inPath.reduce(
      (text, { name }, index) => text.replace(`{${name}}`, encodeURIComponent(names[index] ?? "")),
      path,
    );
    const search = new URLSearchParams(query.flat() as [string, string][]).toString();
    const target = search === "" ? filled : `${filled}?${search}`;
    const own = more.flat().map(([name, value]) => [name, value.replace(/[^ -~]/g, "").trim()]);
    return {
      endpoint,
      method,
      path: target,
      headers: { ...common, ...Object.fromEntries(own) },
      body,
    };
  });
}

function pathParameter(
  { name, schema = {} }: Parameter,
  values: Values,
): fc.Arbitrary<string> {
  return values.ofField(name, schema).map(textOf)
    // An empty segment, or one that a client takes for a step, is another path.
    .filter((text) => text !== "" && !/^\.+$/.test(text));
}

/** As the list of its pairs: none where it is left out. */
function queryParameter(
  { name, schema = {}, required = false }: Parameter,
  values: Values,
): fc.Arbitrary<[string, string][]> {
  const given = values.ofField(name, schema)
    .map((value): [string, string][] => [[name, textOf(value)]]);
  if (required || name === "wait_seconds") return given;
  return fc.option(given, { nil: [] });
}

function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.toWellFormed().slice(0, MAX_PARAMETER).toWellFormed();
}

function bodyOf({ requestBody }: Endpoint, values: Values): fc.Arbitrary<string | null> {
  const schema = requestBody?.content["application/json"]?.schema;
  const nonsense = fc.oneof(
    fc.constant(null),
    fc.constant(""),
    fc.string({ maxLength: 50 }),
    fc.json(),
  );
  if (schema === undefined) return nonsense;
  const right = values.of(schema).map((value) => JSON.stringify(value));
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: nonsense });
}

/** Each request comes from an address of its own, so that one's wrong passwords harm no other. */
function headersOf(credentials: readonly string[]): fc.Arbitrary<Record<string, string>> {
  const [first = "", ...others] = credentials;
  const authorization = fc.oneof(
    { weight: 12, arbitrary: fc.constant(first) },
    ...others.map((value) => ({ weight: 2, arbitrary: fc.constant(value) })),
    { weight: 1, arbitrary: fc.constantFrom("Bearer", "Basic Og==", "Basic !", "Digest x") },
  );
  return fc.record({
    authorization,
    "x-forwarded-for": fc.ipV4(),
    "content-type": fc.constantFrom("application/json", "text/plain"),
    accept: fc.constantFrom("*/*", "application/json", "text/event-stream", "text/html"),
  }, { requiredKeys: ["x-forwarded-for", "authorization"] });
}

/** A request for what is not there, or with a method that is not taken. */
function strayRequest(
  headers: fc.Arbitrary<Record<string, string>>,
): fc.Arbitrary<FuzzRequest> {
  return fc.record({
    method: fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"),
    path: fc.webPath(),
    prefix: fc.constantFrom("", "/v1", "/v1/agents", "/v1/channels"),
    headers,
  }).map(({ method, path, prefix, headers }) => {
    const target = `${prefix}${path.startsWith("/") ? path : `/${path}`}`;
    return { endpoint: null, method, path: target, headers, body: null };
  });
}
