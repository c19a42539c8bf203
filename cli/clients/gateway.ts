/** How clients are told to call their models through muster, with the token of their agent. */
import { type ClientGateway, type TokenCommand } from "./client.ts";
import {
  isObject,
  parseJson,
  readTable,
  readTomlText,
  setJson,
  setTable,
  setTomlText,
  valueAt,
} from "./config_text.ts";

/** What every URL of this kind ends with, below that of a server. */
const ANTHROPIC = "/v1/llm/anthropic";
const OPENAI = "/v1/llm/openai";

const URL_VARIABLE = "ANTHROPIC_BASE_URL";

/** Claude Code: https://code.claude.com/docs/en/llm-gateway and /settings */
export function claudeGateway(file: ClientGateway["file"]): ClientGateway {
  return {
    file,
    add: (url, { line }) => (text) => {
      const named = setJson(text, ["env", URL_VARIABLE], `${url}${ANTHROPIC}`);
      return setJson(named, ["apiKeyHelper"], line);
    },
    remove: (text) => {
      const tree = parseJson(text);
      if (!String(valueAt(tree, ["env", URL_VARIABLE])).endsWith(ANTHROPIC)) return text;
      const { env } = tree;
      const isAlone = isObject(env) && Object.keys(env).length === 1;
      const without = setJson(text, isAlone ? ["env"] : ["env", URL_VARIABLE], undefined);
      return setJson(without, ["apiKeyHelper"], undefined);
    },
  };
}

/** The provider of models in Codex's file. */
const PROVIDER = ["model_providers", "muster"] as const;

/** Codex: https://developers.openai.com/codex/config-advanced */
export function codexGateway(file: ClientGateway["file"]): ClientGateway {
  return {
    file,
    add: (url, { words: [command, ...args] }) => (text) => {
      const provider = {
        name: "muster",
        base_url: `${url}${OPENAI}`,
        wire_api: "responses",
        auth: { command, args },
      };
      return setTomlText(setTable(text, PROVIDER, provider), "model_provider", "muster");
    },
    remove: (text) => {
      if (!String(readTable(text, PROVIDER)?.["base_url"]).endsWith(OPENAI)) return text;
      const without = setTable(text, PROVIDER, undefined);
      return readTomlText(without, "model_provider") === "muster"
        ? setTomlText(without, "model_provider", undefined)
        : without;
    },
  };
}

/** The command that prints the token in a file. */
export function tokenCommand(
  path: string,
  line: (words: readonly string[]) => string,
): TokenCommand {
  const words = ["cat", path] as const;
  return { words, line: line(words) };
}
