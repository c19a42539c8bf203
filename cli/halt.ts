import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Leaf } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printJson } from "./output.ts";

interface HaltOptions extends CommandOptions {
  readonly agents?: string;
  readonly types?: string;
}

const ruleSchema = z.looseObject({ halted: z.boolean(), reason: z.string().nullable() });

const stateSchema = z.looseObject({
  halted: z.boolean(),
  reason: z.string().nullable(),
  by: z.string().nullable(),
  types: z.array(ruleSchema.extend({ type: z.string() })),
  agents: z.array(ruleSchema.extend({ nick: z.string() })),
  agents_halted: z.number(),
});

/** `muster halt`: halts agents. */
async function halt(words: readonly string[] = [], options: HaltOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const { agents, types } = namesIn(options);
  const reason = words.length === 0 ? null : words.join(" ");
  show(await client.call("POST", "/v1/halt", stateSchema, { reason, agents, types }), options);
}

/** `muster resume`: lets agents go on. */
async function resume(options: HaltOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const query = new URLSearchParams();
  for (const [name, names] of Object.entries(namesIn(options))) {
    if (names.length > 0) query.set(name, names.join(","));
  }
  const path = query.size === 0 ? "/v1/halt" : `/v1/halt?${query}`;
  show(await client.call("DELETE", path, stateSchema), options);
}

function namesIn({ agents, types }: HaltOptions) {
  const listOf = (text = "") => text.split(",").map((name) => name.trim()).filter(Boolean);
  return { agents: listOf(agents), types: listOf(types) };
}

function show(state: z.infer<typeof stateSchema>, options: HaltOptions): void {
  if (options.json === true) return printJson(state);
  const exceptions = [
    ...state.types.map(({ type, halted }) => ({ name: `type ${type}`, halted })),
    ...state.agents.map(({ nick, halted }) => ({ name: nick, halted })),
  ];
  const end = exceptions.length === 0 ? "." : ", except:";
  print(`${state.halted ? "All agents are halted" : "Agents go on"}${end}`);
  for (const { name, halted } of exceptions) print(`  ${name}: ${halted ? "halted" : "goes on"}`);
  print(`Halted now: ${state.agents_halted}`);
}

const NAMES = [
  { flags: "--agents <nicks>", summary: "only these agents, separated by commas" },
  {
    flags: "--types <types>",
    summary: "only agents of these types, separated by commas",
  },
];

/** `muster halt`: the stop button. */
export const HALT: Leaf = {
  parameters: [{ usage: "[reason...]" }],
  options: [...NAMES, JSON_OPTION, URL_OPTION],
  examples: [
    { line: "halt 'Wrong branch merged'", purpose: "Stop every agent at once" },
    { line: "halt --types worker", purpose: "Stop all workers" },
  ],
  notes: [
    "A halted agent may read, but not say or change anything, on any interface. Its running calls " +
    "of models end, and its claims stop running out. A halt survives a restart.",
  ],
  run: halt,
};

/** `muster resume`: ends a halt. */
export const RESUME: Leaf = {
  options: [...NAMES, JSON_OPTION, URL_OPTION],
  examples: [
    { line: "resume", purpose: "Let every agent go on" },
    { line: "resume --agents scout", purpose: "Let one agent go on, while the others stay halted" },
  ],
  run: resume,
};
