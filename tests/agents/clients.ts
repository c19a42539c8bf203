/** The agent programs: how each is started on a prompt, with muster's tools and the scripted model. */
import { join } from "node:path";

/** What a program is started with. */
export interface Stage {
  /** The folder of `scripts/agent_clients`. */
  readonly programs: string;
  /** The agent's home folder, with what `muster mcp install` has written. */
  readonly home: string;
  /** The folder it works in. */
  readonly folder: string;
  /** The URL of the scripted model. */
  readonly model: string;
  /** The URL of muster's tools. */
  readonly tools: string;
  /** The agent's token. */
  readonly token: string;
}

/** How to run a program. */
interface Start {
  readonly words: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
}

/** An agent program. */
export interface AgentProgram {
  readonly title: string;
  /** Its name for `muster mcp install`; null if it takes the URL of the tools. */
  readonly installed: string | null;
  readonly hasHooks?: true;
  /** What `muster mcp install` does not write: its model. */
  readonly prepare?: (stage: Stage) => void;
  readonly start: (prompt: string, stage: Stage) => Start;
}

const script = (name: string) => join(import.meta.dirname ?? ".", name);

function npm(programs: string, name: string): string {
  return join(programs, "node_modules", ".bin", name);
}

function python(file: string, title: string): AgentProgram {
  return {
    title,
    installed: null,
    start: (prompt, { programs, model, tools, token }) => ({
      words: [join(programs, "bin", "python"), script(file), prompt],
      environment: { MODEL_URL: `${model}/v1`, TOOLS_URL: tools, TOKEN: token },
    }),
  };
}

function writeJson(path: string, value: unknown): void {
  Deno.mkdirSync(join(path, ".."), { recursive: true });
  Deno.writeTextFileSync(path, JSON.stringify(value, null, 2));
}

/** Adds to a file that `muster mcp install` has written. */
function extendJson(path: string, more: object): void {
  writeJson(path, { ...JSON.parse(Deno.readTextFileSync(path)), ...more });
}

/** The programs, by short names. */
export const PROGRAMS: Readonly<Record<string, AgentProgram>> = {
  claude: {
    title: "Claude Code",
    installed: "claude",
    hasHooks: true,
    start: (prompt, { programs, model }) => ({
      words: [npm(programs, "claude"), "-p", prompt],
      environment: {
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    }),
  },
  codex: {
    title: "Codex",
    installed: "codex",
    hasHooks: true,
    start: (prompt, { programs, model }) => ({
      words: [
        ...[npm(programs, "codex"), "exec", "--skip-git-repo-check"] as const,
        ...["-c", "model_provider=scripted", "-c", "model=gpt-5"],
        ...["-c", 'model_providers.scripted.name="scripted"'],
        ...["-c", `model_providers.scripted.base_url="${model}/v1"`],
        ...["-c", 'model_providers.scripted.wire_api="responses"'],
        // The scripted model answers before Codex has started its servers, unless it waits for them.
        ...["-c", "mcp_servers.muster.required=true"],
        prompt,
      ],
    }),
  },
  gemini: {
    title: "Gemini CLI",
    installed: "gemini",
    hasHooks: true,
    prepare: ({ home }) =>
      extendJson(join(home, ".gemini", "settings.json"), {
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
      }),
    start: (prompt, { programs, model }) => ({
      words: [npm(programs, "gemini"), "--skip-trust", "-p", prompt],
      environment: {
        GEMINI_API_KEY: "none",
        GOOGLE_GEMINI_BASE_URL: model,
        // Without a model of its own it asks one which model to take, five times for more than a minute
        // if the answer is no JSON.
        GEMINI_MODEL: "gemini-2.5-pro",
      },
    }),
  },
  opencode: {
    title: "opencode",
    installed: "opencode",
    prepare: ({ home, model }) =>
      extendJson(join(home, ".config", "opencode", "opencode.json"), {
        model: "scripted/scripted",
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            name: "scripted",
            options: { baseURL: `${model}/v1`, apiKey: "none" },
            models: { scripted: { name: "scripted" } },
          },
        },
      }),
    start: (prompt, { programs }) => ({
      words: [npm(programs, "opencode"), "run", prompt],
      environment: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    }),
  },
  copilot: {
    title: "Copilot CLI",
    installed: "copilot",
    hasHooks: true,
    start: (prompt, { programs, model }) => ({
      words: [npm(programs, "copilot"), "-p", prompt],
      environment: {
        COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
        COPILOT_PROVIDER_API_KEY: "none",
        COPILOT_MODEL: "gpt-5",
        COPILOT_OFFLINE: "true",
      },
    }),
  },
  qwen: {
    title: "Qwen Code",
    installed: "qwen",
    hasHooks: true,
    start: (prompt, { programs, model }) => ({
      words: [npm(programs, "qwen"), "--auth-type", "openai", "-p", prompt],
      environment: {
        OPENAI_BASE_URL: `${model}/v1`,
        OPENAI_API_KEY: "none",
        OPENAI_MODEL: "scripted",
      },
    }),
  },
  "openai-agents": python("openai_agents.py", "OpenAI Agents SDK"),
  "pydantic-ai": python("pydantic_agent.py", "Pydantic AI"),
  langchain: python("langchain_agent.py", "LangChain"),
};
