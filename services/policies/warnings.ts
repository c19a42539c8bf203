import { suggest } from "../spelling/mod.ts";
import { BOTS } from "./bots.ts";
import { isObject, type JsonObject } from "./merge.ts";

/** The bots that this version of muster runs. */
const RUNNING: ReadonlySet<string> = new Set([
  "auditbot",
  "bridge",
  "herald",
  "oracle",
  "scribe",
  "scroll",
  "sentinel",
  "shepherd",
  "snitch",
  "steward",
  "systembot",
  "warden",
]);

/** The most warnings about one change, and the most characters of a name that one quotes. */
const MAX_WARNINGS = 20;
const MAX_NAME_LENGTH = 64;

/**
 * Finds settings without effect in a change of policies: bots that muster does not run, fields that
 * a known bot does not have, and backends that do not exist. They are stored anyway.
 *
 * @param patch the change, already validated
 * @param backends the names of the LLM backends
 * @returns sentences for the person who made the change, at most twenty
 */
export function policyWarnings(patch: JsonObject, backends: readonly string[]): string[] {
  const warnings = Object.entries(patch).flatMap(([bot, settings]) => {
    if (!isObject(settings)) return [];
    const known = shapeOf(bot);
    if (known === null) return [noSuch("bot", bot, Object.keys(BOTS))];
    const unknown = Object.keys(settings)
      .filter((field) => settings[field] !== null && !known.includes(field))
      .map((field) => noSuch(`field of "${bot}"`, field, known));
    if (unknown.length === 0 && !RUNNING.has(bot)) {
      return [`This version of muster does not run the bot "${bot}"; its policy is stored`];
    }
    const { backend } = settings;
    const isAbsent = known.includes("backend") && typeof backend === "string" && backend !== "" &&
      !backends.includes(backend);
    return isAbsent ? [...unknown, noSuch("LLM backend", backend, backends)] : unknown;
  });
  return warnings.slice(0, MAX_WARNINGS);
}

function shapeOf(bot: string): readonly string[] | null {
  const known = Object.entries(BOTS).find(([name]) => name === bot);
  return known === undefined ? null : Object.keys(known[1].shape);
}

function noSuch(kind: string, name: string, known: readonly string[]): string {
  const shown = name.slice(0, MAX_NAME_LENGTH);
  const meant = suggest(shown, known);
  const hint = meant === null ? "" : `; did you mean "${meant}"?`;
  return `There is no ${kind} called "${shown}"${hint}`;
}
