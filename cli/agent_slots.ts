import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Command } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { CommandFailed, print, printJson, table } from "./output.ts";

/** What is limited, in the order of the table. */
const SLOTS = ["claims", "workspaces", "reviews", "calls"] as const;
type Slot = (typeof SLOTS)[number];

interface SlotsOptions extends CommandOptions, Partial<Record<Slot, string>> {}

const slotsSchema = z.object({
  limits: z.record(z.enum(SLOTS), z.number()),
  own: z.record(z.enum(SLOTS), z.number().nullable()),
});

/** `muster agent slots`: shows how much an agent may have at once, or sets it. */
async function agentSlots(nick: string, options: SlotsOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `/v1/agents/${encodeURIComponent(nick)}/slots`;
  const given = SLOTS.filter((slot) => options[slot] !== undefined);
  const change = Object.fromEntries(given.map((slot) => [slot, numberOf(options[slot] ?? "")]));
  let slots = await client.call("GET", path, slotsSchema);
  if (given.length > 0) {
    // PUT replaces all of them.
    slots = await client.call("PUT", path, slotsSchema, { ...slots.own, ...change });
  }
  if (options.json === true) return printJson(slots);
  const rows = SLOTS.map((slot) => [
    slot,
    String(slots.limits[slot]),
    slots.own[slot] === null ? "of its type, or the general one" : "its own",
  ]);
  print(table(["SLOTS", "AT ONCE", "LIMIT"], rows));
}

/** The number of an option; null for `none`, which removes the agent's own limit. */
function numberOf(text: string): number | null {
  if (text === "none") return null;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CommandFailed(`"${text}" is no number of slots; "none" removes the limit`, 2);
}

/** The command for an agent's slots. */
export const AGENT_SLOTS: Command = {
  name: "slots",
  summary: "show or set how much an agent may have at once",
  parameters: [{ usage: "<nick>" }],
  options: [
    { flags: "--claims <count>", summary: "tickets that it holds" },
    { flags: "--workspaces <count>", summary: "open workspaces" },
    { flags: "--reviews <count>", summary: "reviews that wait" },
    { flags: "--calls <count>", summary: "calls of models; for each, none removes its own limit" },
    JSON_OPTION,
    URL_OPTION,
  ],
  examples: [{ line: "agent slots scout --claims 2", purpose: "Two tickets at once" }],
  run: agentSlots,
};
