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
  provider("litellm", "http://localhost:4000/v1", { countsStreams: true, namesHaveSlashes: true }),
  provider("lmstudio", "http://localhost:1234/v1", { countsStreams: true, namesHaveSlashes: true }),
  provider("localai", "http://localhost:8080/v1", { namesHaveSlashes: true }),
  provider("mistral", "https://api.mistral.ai/v1", {
    variables: ["MISTRAL_API_KEY", "MISTRAL_KEY"],
  }),
  provider("ollama", "http://localhost:11434", { api: "ollama", namesHaveSlashes: true }),
  provider("openai", "https://api.openai.com/v1", {
    variables: ["OPENAI_API_KEY", "OPENAI_KEY"],
    countsStreams: true,
  }),
  provider("openrouter", "https://openrouter.ai/api/v1", {
    variables: ["OPENROUTER_API_KEY", "OPENROUTER_KEY"],
    countsStreams: true,
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
  }),
]);

/** Whether muster knows a provider's address and format. */
export function isKnownProvider(name: string): boolean {
  return KNOWN_PROVIDERS.some((known) => known.name === name);
}

/** A provider by its name; an unknown one uses OpenAI's format, at any address. */
export function providerOf(name: string): Provider {
  return KNOWN_PROVIDERS.find((known) => known.name === name) ?? provider(name, "");
}
