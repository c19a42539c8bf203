/** A policy file of Gemini CLI: https://geminicli.com/docs/reference/policy-engine */
import { stringify } from "smol-toml";
import { isObject, parseToml, Unreadable } from "./config_text.ts";
import { ASKED_TOOLS } from "./permissions.ts";

/** Priorities among the rules of one person, of 999; the highest one decides. */
const ALLOW = 100;
const ASK = 200;

/** Writes the policy of a server: its tools need no question, but for those that a person approves. */
export function geminiPolicy(name: string) {
  return (text: string): string => {
    requireOwn(text, name);
    return stringify({
      rule: [
        { mcpName: name, toolName: "*", decision: "allow", priority: ALLOW },
        { mcpName: name, toolName: [...ASKED_TOOLS], decision: "ask_user", priority: ASK },
      ],
    });
  };
}

/** Empties the policy file of a server. */
export function withoutGeminiPolicy(name: string) {
  return (text: string): string => {
    requireOwn(text, name);
    return "";
  };
}

/** @throws Unreadable if the file has rules that muster did not write */
function requireOwn(text: string, name: string): void {
  const { rule: rules = [] } = parseToml(text);
  const isOwn = Array.isArray(rules) &&
    rules.every((rule: unknown) => isObject(rule) && rule["mcpName"] === name);
  if (!isOwn) throw new Unreadable("it has rules that muster did not write");
}
