import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { CommandFailed, printJson } from "./output.ts";

const PATH = "/v1/settings/policies";

const objectSchema = z.record(z.string(), z.unknown());

/** `muster policy show`: prints all policies as JSON, those of a bot, or one of its fields. */
async function showPolicy(name: string | undefined, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const policies = await client.call("GET", PATH, objectSchema);
  printJson(name === undefined ? policies : valueAt(policies, name));
}

/** `muster policy set`: sets a field of a bot; `null` removes it. */
async function setPolicy(
  name: string,
  value: string,
  options: CommandOptions,
): Promise<void> {
  const client = await ApiClient.connect(options);
  const given = readValue(value);
  requireField(name, given);
  const patch = name.split(".").reduceRight<unknown>(
    (nested, key) => ({ [key]: nested }),
    given,
  );
  await client.call("PUT", PATH, objectSchema, patch);
}

/** @throws CommandFailed if the value would replace all settings of a bot, and is no object */
function requireField(name: string, value: unknown): void {
  if (name.includes(".") || value === null || objectSchema.safeParse(value).success) return;
  const [, field = "FIELD", rest = "VALUE"] = /^(\w+)=(.*)$/s.exec(String(value)) ?? [];
  throw new CommandFailed(
    `"${name}" is a bot, and this sets one of its fields: muster policy set ${name}.${field} ${rest}`,
  );
}

/** Parses a value as JSON; a text that is not JSON stands for itself. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function valueAt(policies: Readonly<Record<string, unknown>>, name: string): unknown {
  let value: unknown = policies;
  for (const key of name.split(".")) {
    const object = objectSchema.safeParse(value);
    if (!object.success || !Object.hasOwn(object.data, key)) {
      throw new CommandFailed(`There is no policy "${name}"`);
    }
    value = object.data[key];
  }
  return value;
}

/** `muster policy`: the settings of each bot. */
export const POLICY: Group = {
  commands: [
    {
      name: "set",
      summary: "set a policy such as oracle.backend; the value null removes it",
      parameters: [{ usage: "<name>" }, { usage: "<value>" }],
      options: [URL_OPTION],
      run: setPolicy,
    },
    {
      name: "show",
      aliases: ["get", "list"],
      summary: "print all policies, or one such as oracle or oracle.backend",
      parameters: [{ usage: "[name]" }],
      options: [JSON_OPTION, URL_OPTION],
      run: showPolicy,
    },
  ],
  examples: [
    { line: "policy set oracle.backend claude", purpose: "Choose the backend of a bot" },
    { line: "policy show oracle", purpose: "Print all of its settings" },
  ],
};
