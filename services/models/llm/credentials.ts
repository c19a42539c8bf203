import { Unavailable } from "../../kernel/errors.ts";
import { keyVariableProblem, type Provider, providerOf } from "./catalog.ts";
import type { BackendDefinition } from "./schemas.ts";

/** Reads an environment variable of the process. */
export type Environment = (name: string) => string | undefined;

/** The credentials for a provider's API. */
type Credentials =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly key: string }
  | {
    /** Keys of AWS, with which requests are signed. */
    readonly kind: "aws";
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken: string | null;
  };

/** A backend's connection to its provider. */
export interface Endpoint {
  readonly provider: Provider;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** The AWS region; unused for other providers. */
  readonly region: string;
  readonly credentials: Credentials;
}

const DEFAULT_REGION = "us-east-1";

/** What a header can carry. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/** The variable of an AWS key id; its siblings hold the rest of the credentials. */
const ACCESS_KEY_ID = /ACCESS_KEY_ID$/;

/**
 * Finds the address of a backend and reads its key from the environment. An empty `api_key_env`
 * means the provider's usual variables, and only for the provider's own address: no key is sent
 * elsewhere unless it is named.
 *
 * @param keyVariables the variables that the operator allows; see {@link keyVariableProblem}
 * @throws Unavailable if the key is not in the environment, or its variable is not allowed
 */
export function endpointOf(
  definition: BackendDefinition,
  environment: Environment,
  keyVariables: readonly string[],
): Endpoint {
  const problem = keyVariableProblem(definition.api_key_env, keyVariables);
  if (problem !== null) {
    throw new Unavailable(`The "api_key_env" of the LLM backend "${definition.name}" ${problem}`);
  }
  const provider = providerOf(definition.provider);
  const own = ownAddress(provider, environment);
  const baseUrl = definition.base_url === "" ? own : definition.base_url;
  const region = regionOf(baseUrl) ?? environmentRegion(environment);
  const variables = definition.api_key_env !== ""
    ? [definition.api_key_env]
    : baseUrl === own
    ? provider.variables
    : [];
  return { provider, baseUrl, region, credentials: read(variables, definition, environment) };
}

/** The address of a provider; for Amazon Bedrock, the environment names the region. */
export function ownAddress(provider: Provider, environment: Environment): string {
  if (provider.api !== "bedrock") return provider.baseUrl;
  return provider.baseUrl.replace(DEFAULT_REGION, environmentRegion(environment));
}

/** The secret parts of the credentials. */
export function secretsOf(credentials: Credentials): string[] {
  switch (credentials.kind) {
    case "none":
      return [];
    case "key":
      return [credentials.key];
    case "aws": {
      const { accessKeyId, secretAccessKey, sessionToken } = credentials;
      return [accessKeyId, secretAccessKey, ...sessionToken === null ? [] : [sessionToken]];
    }
  }
}

function read(
  variables: readonly string[],
  { name }: BackendDefinition,
  environment: Environment,
): Credentials {
  if (variables.length === 0) return { kind: "none" };
  const variable = variables.find((candidate) => isSet(environment, candidate));
  if (variable === undefined) throw keyMissing(name, variables);
  const value = (of: string) => {
    const text = environment(of)?.trim() ?? "";
    if (HEADER_SAFE.test(text)) return text;
    throw new Unavailable(`The environment variable ${of} of "${name}" holds no usable key`);
  };
  const key = value(variable);
  if (!ACCESS_KEY_ID.test(variable)) return { kind: "key", key };
  const sibling = (what: string) => variable.replace(ACCESS_KEY_ID, what);
  const [secret, session] = [sibling("SECRET_ACCESS_KEY"), sibling("SESSION_TOKEN")];
  if (!isSet(environment, secret)) throw keyMissing(name, [secret]);
  return {
    kind: "aws",
    accessKeyId: key,
    secretAccessKey: value(secret),
    sessionToken: isSet(environment, session) ? value(session) : null,
  };
}

/** Whether a variable holds anything. */
export function isSet(environment: Environment, variable: string): boolean {
  return (environment(variable)?.trim() ?? "") !== "";
}

function keyMissing(backend: string, variables: readonly string[]): Unavailable {
  const names = variables.join(" or ");
  return new Unavailable(
    `The LLM backend "${backend}" has no key: the environment variable ${names} is not set`,
  );
}

function regionOf(baseUrl: string): string | null {
  const { hostname } = new URL(baseUrl);
  return /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(hostname)?.[1] ?? null;
}

function environmentRegion(environment: Environment): string {
  const named = environment("AWS_REGION") ?? environment("AWS_DEFAULT_REGION") ?? "";
  return /^[a-z]{2}[a-z0-9-]{1,30}$/.test(named) ? named : DEFAULT_REGION;
}

/** The origins that a list of models and a chat use. */
export function originsOf(endpoint: Endpoint): string[] {
  const origin = new URL(endpoint.baseUrl).origin;
  return endpoint.provider.api === "bedrock" ? [origin, controlPlane(endpoint)] : [origin];
}

/** Bedrock's models are listed by another host than the one that runs them. */
export function controlPlane({ baseUrl }: Endpoint): string {
  return new URL(baseUrl).origin.replace(/^(https?:\/\/)bedrock-runtime/, "$1bedrock");
}

/** Parts of a secret with at least this length are removed from error texts. */
const MIN_PIECE = 8;

const REMOVED = "[removed]";

/**
 * Removes the secrets of one backend from its provider's texts: in plain form, and as encoded in
 * JSON, URLs, forms and base64.
 */
export class Redactor {
  readonly #spellings: readonly string[];
  #pieces: ReadonlySet<string> | null = null;

  constructor(secrets: readonly string[]) {
    const all = secrets.filter((secret) => secret !== "").flatMap(spellings);
    this.#spellings = [...new Set(all)].sort((a, b) => b.length - a.length);
  }

  /** Removes whole secrets; for answers, which may be long. */
  answer(text: string): string {
    return this.#spellings.reduce((rest, secret) => rest.replaceAll(secret, REMOVED), text);
  }

  /** Removes every sufficiently long part of a secret; for texts of errors. */
  error(text: string): string {
    this.#pieces ??= new Set(this.#spellings.flatMap(piecesOf));
    const rest = this.answer(text);
    let result = "";
    let index = 0;
    while (index < rest.length) {
      const length = pieceAt(this.#pieces, rest, index);
      if (length === 0) {
        result += rest[index++];
      } else {
        result += REMOVED;
        index += length;
      }
    }
    return result;
  }
}

function pieceAt(pieces: ReadonlySet<string>, text: string, start: number): number {
  let end = start;
  while (pieces.has(text.slice(end, end + MIN_PIECE))) end++;
  return end === start ? 0 : end - start + MIN_PIECE - 1;
}

function spellings(secret: string): string[] {
  const url = encodeURIComponent(secret);
  const urls = [
    url,
    lowerCaseEscapes(url),
    new URLSearchParams({ "": secret }).toString().slice(1),
  ];
  return [secret, JSON.stringify(secret).slice(1, -1), ...urls, ...base64Spellings(secret)];
}

function lowerCaseEscapes(url: string): string {
  return url.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
}

/**
 * A secret in base64 (RFC 4648, both alphabets), at any offset in the encoded text, such as after
 * the name in Basic credentials. Characters that depend on its neighbours are omitted.
 */
function base64Spellings(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  return [0, 1, 2].flatMap((before) => {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    const encoded = btoa(Array.from(padded, (byte) => String.fromCharCode(byte)).join(""));
    const first = Math.ceil(before * 8 / 6);
    const end = Math.floor(padded.length * 8 / 6);
    const own = encoded.slice(first, end);
    return own.length < MIN_PIECE ? [] : [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function piecesOf(secret: string): string[] {
  const count = Math.max(0, secret.length - MIN_PIECE + 1);
  return Array.from({ length: count }, (_, index) => secret.slice(index, index + MIN_PIECE));
}
