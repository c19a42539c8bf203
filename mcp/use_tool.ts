import { z } from "zod";
import { Invalid, NotFound } from "../services/kernel/errors.ts";
import { summarizeStatus } from "../services/operation/metrics/operations.ts";
import { ASKED_TOOLS } from "./asked_tools.ts";
import { ownName } from "./names.ts";
import { SETS } from "./tool_sets.ts";
import type { Toolbox } from "./toolbox.ts";
import { type Tool, tool } from "./tool.ts";
import { USE_TOOL } from "./unlisted_calls.ts";

/**
 * The tool that names and describes the others. Calls through it are calls of the tools themselves
 * (`unwrapped`), but for those that it refuses.
 *
 * @param others the tools that a call may reach
 */
export function useTool(others: Toolbox): Tool {
  return tool({
    name: USE_TOOL,
    description: "Calls a tool that is not listed: channels (talk), files, history, SQL (code), " +
      "verdicts (review), taking over and merging (workspace), tags, releases, wiki (publish). " +
      "Without a name, it names them; without arguments, it describes one.",
    does: summarizeStatus,
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    sees: () => true,
    input: {
      name: z.string().max(100).optional(),
      arguments: z.record(z.string(), z.unknown()).optional().describe(
        "Those of the tool; {} for none",
      ),
    },
    output: {
      sets: z.record(z.string(), z.array(z.string())).optional().describe("Tools, by their sets"),
      name: z.string().optional(),
      description: z.string().optional(),
      inputSchema: z.looseObject({}).optional(),
    },
    run({ name, arguments: given }, { principal }) {
      const open = others.openTo(principal);
      if (name === undefined) return { data: { sets: setsOf(open) } };
      const found = open.find((tool) => tool.name === ownName(name));
      if (found === undefined) {
        throw new NotFound(`There is no tool "${name}" that you may call`);
      }
      if (given !== undefined && ASKED_TOOLS.includes(found.name)) {
        throw new Invalid(
          `Your user decides on ${name}: ask your user to list it (muster mcp --tools ` +
            `${setOf(name)}), and call it by its name`,
        );
      }
      const { description = "", inputSchema } = found.listing;
      return { data: { name, description, inputSchema } };
    },
    advice: { notFound: `${USE_TOOL} without a name names all` },
  });
}

function setsOf(open: readonly Tool[]): Record<string, string[]> {
  const names = open.map(({ name }) => name);
  const sets = [...SETS].map(([set, tools]): [string, string[]] => [
    set,
    tools.filter((tool) => names.includes(tool)),
  ]);
  return Object.fromEntries(sets.filter(([, tools]) => tools.length > 0));
}

function setOf(name: string): string {
  return [...SETS].find(([, tools]) => tools.includes(name))?.[0] ?? "all";
}
