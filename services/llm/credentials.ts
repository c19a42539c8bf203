import { Unavailable } from "../errors.ts";
import {
  type BackendDefinition,
  keyVariableProblem,
  type Provider,
  providerOf,
} from "./catalog/mod.ts";

/** Reads an environment variable of the process. */
export type Environment = (name: string) => string | undefined;

/** The credentials for a provider's API. */
export type Credentials =
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
