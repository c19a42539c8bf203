import { suggest } from "../../kernel/suggest.ts";

/** The API format of a provider. */
export type ProviderApi = "openai" | "anthropic" | "gemini" | "bedrock" | "ollama";

/** A provider of language models. */
export interface Provider {
  readonly name: string;
  /** The address of its API; empty if each backend has its own. */
  readonly baseUrl: string;
  readonly api: ProviderApi;
  /** Environment variables that usually hold its key, the usual one first; none for local ones. */
  readonly variables: readonly string[];
  /** Whether it reports the tokens of a streamed answer on request. */
  readonly countsStreams: boolean;
  /** Whether it has OpenAI's Responses API beside that of chat completions. */
  readonly hasResponses: boolean;
  /** Whether slashes are usual in its models' names, such as `maker/model`. */
  readonly namesHaveSlashes: boolean;
}

type Details = Partial<Omit<Provider, "name" | "baseUrl">>;

function provider(name: string, baseUrl: string, details: Details = {}): Provider {
  return Object.freeze({
    name,
    baseUrl,
    api: "openai",
    variables: [],
    countsStreams: false,
    hasResponses: false,
    namesHaveSlashes: false,
    ...details,
  });
}

/** Every provider that muster knows, by name. */
export const KNOWN_PROVIDERS: readonly Provider[] = Object.freeze([
  provider("ai21", "https://api.ai21.com/studio/v1", { variables: ["AI21_API_KEY", "AI21_KEY"] }),
  provider("anthropic", "https://api.anthropic.com", {
    api: "anthropic",
    variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_KEY"],
  }),
  provider("anythingllm", "http://localhost:3001/v1"),
  provider("bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com", {
    api: "bedrock",
    namesHaveSlashes: true,
    variables: ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"],
  }),
  provider("cerebras", "https://api.cerebras.ai/v1", {
    variables: ["CEREBRAS_API_KEY", "CEREBRAS_KEY"],
    countsStreams: true,
  }),
  provider("deepseek", "https://api.deepseek.com/v1", {
    variables: ["DEEPSEEK_API_KEY", "DEEPSEEK_KEY"],
    countsStreams: true,
  }),
  provider("fireworks", "https://api.fireworks.ai/inference/v1", {
    variables: ["FIREWORKS_API_KEY", "FIREWORKS_KEY"],
    countsStreams: true,
    namesHaveSlashes: true,
  }),
  provider("gemini", "https://generativelanguage.googleapis.com", {
    api: "gemini",
    namesHaveSlashes: true,
    variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_KEY", "GOOGLE_GEMINI_API_KEY"],
  }),
  provider("groq", "https://api.groq.com/openai/v1", {
    variables: ["GROQ_API_KEY", "GROQ_KEY"],
    countsStreams: true,
    namesHaveSlashes: true,
  }),
  provider("huggingface", "https://api-inference.huggingface.co/v1", {
    variables: ["HUGGINGFACE_API_KEY", "HF_TOKEN", "HUGGINGFACE_TOKEN"],
    namesHaveSlashes: true,
  }),
  provider("jan", "http://localhost:1337/v1", { namesHaveSlashes: true }),
  provider("litellm", "http://localhost:4000/v1", {
    countsStreams: true,
    hasResponses: true,
    namesHaveSlashes: true,
  }),
  provider("lmstudio", "http://localhost:1234/v1", { countsStreams: true, namesHaveSlashes: true }),
  provider("localai", "http://localhost:8080/v1", { namesHaveSlashes: true }),
  provider("mistral", "https://api.mistral.ai/v1", {
    variables: ["MISTRAL_API_KEY", "MISTRAL_KEY"],
  }),
  provider("ollama", "http://localhost:11434", { api: "ollama", namesHaveSlashes: true }),
  provider("openai", "https://api.openai.com/v1", {
    variables: ["OPENAI_API_KEY", "OPENAI_KEY"],
    countsStreams: true,
    hasResponses: true,
  }),
  provider("openrouter", "https://openrouter.ai/api/v1", {
    variables: ["OPENROUTER_API_KEY", "OPENROUTER_KEY"],
    countsStreams: true,
    hasResponses: true,
    namesHaveSlashes: true,
  }),
  provider("together", "https://api.together.xyz/v1", {
    variables: ["TOGETHER_API_KEY", "TOGETHER_KEY"],
    countsStreams: true,
    namesHaveSlashes: true,
  }),
  provider("vllm", "http://localhost:8000/v1", { countsStreams: true, namesHaveSlashes: true }),
  provider("xai", "https://api.x.ai/v1", {
    variables: ["XAI_API_KEY", "XAI_KEY"],
    countsStreams: true,
    hasResponses: true,
  }),
]);

/** Whether muster knows a provider's address and format. */
function isKnownProvider(name: string): boolean {
  return KNOWN_PROVIDERS.some((known) => known.name === name);
}

/** A provider by its name; an unknown one uses OpenAI's format, at any address. */
export function providerOf(name: string): Provider {
  return KNOWN_PROVIDERS.find((known) => known.name === name) ?? provider(name, "");
}

/** What is wrong with a backend although each field is valid, or null. */
export function definitionProblem(
  { provider, base_url }: { readonly provider: string; readonly base_url: string },
): string | null {
  if (base_url !== "" || isKnownProvider(provider)) return null;
  const meant = suggest(provider, KNOWN_PROVIDERS.map(({ name }) => name));
  const hint = meant === null ? "" : `; did you mean "${meant}"?`;
  return `is required, because muster does not know the provider "${provider}"${hint}`;
}

/** Variables that muster itself reads. No list allows them. */
const OWN = /^MUSTER_/i;

/** Beginnings of the variables of other programs and of the system. */
const OTHERS =
  /^(?:PG|GH_|ACTIONS_|MCP_|OTEL_|DENO_|NODE_|NPM_|GIT_|GITHUB_|GITLAB_|CI_|SSH_|GPG_|XDG_|DBUS_|LD_|DOCKER_|KUBE|VAULT_|POSTGRES|MYSQL_|MARIADB_|MONGO|REDIS|SMTP_|SYSTEMD_)/i;

/** What the name of a provider's key has, with the account or the stage behind it. */
const KEY = /(?:^|_)(?:API)?(?:KEY|TOKEN)(?:_(?:[A-Z]{1,8}|\d{1,4}|ID))?$/i;

/** Parts of the names of other keys: those that sign, encrypt or open a door of another kind. */
const OTHER_KEY =
  /(?:^|_)(?:SECRET|PRIVATE|SIGNING|ENCRYPTION|MASTER|SESSION|COOKIE|DEPLOY|WEBHOOK|CSRF|JWT|BOT|BASE|FILE|PATH|URL|DIR)(?:_|$)/i;

const OF_PROVIDERS: ReadonlySet<string> = new Set(
  KNOWN_PROVIDERS.flatMap(({ variables }) => variables),
);

/**
 * Why a backend may not take its key from an environment variable; null if it may. The value goes to
 * whatever address the backend names, so it must be no other secret of this process.
 *
 * @param name "" means the provider's own variables
 * @param allowed the names that the operator allows beside those of known providers; if there are
 * none, every name that looks like that of a key
 */
export function keyVariableProblem(name: string, allowed: readonly string[]): string | null {
  if (OWN.test(name)) return "must not be one of muster's own variables";
  if (name === "" || OF_PROVIDERS.has(name) || allowed.includes(name)) return null;
  if (allowed.length > 0) return `must be a known provider's variable, or in llm.key_variables`;
  return KEY.test(name) && !OTHER_KEY.test(name) && !OTHERS.test(name)
    ? null
    : "must be the variable of a provider's key; if this one is, add it to llm.key_variables";
}
