import { z } from "zod";
import { ApiClient } from "./client.ts";
import { type Group, InvalidValue } from "./command_line/mod.ts";
import { checkCount, type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { CommandFailed, print, printJson, table, visible } from "./output.ts";
import { dollars } from "../services/kernel/words.ts";

interface UsageOptions extends CommandOptions {
  readonly by?: string;
  readonly from?: string;
  readonly to?: string;
  readonly agent?: string;
  readonly project?: string;
}

interface LimitOptions extends CommandOptions {
  readonly cost?: string;
  readonly tokens?: number;
  readonly warn?: number;
}

const MICRO = 1_000_000;

const sumsSchema = z.looseObject({
  calls: z.number(),
  failed: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cost_micro_usd: z.number(),
  unpriced_calls: z.number(),
});
type Sums = z.infer<typeof sumsSchema>;

const usageSchema = z.looseObject({
  by: z.string(),
  from: z.string(),
  to: z.string(),
  groups: z.array(sumsSchema.extend({ name: z.string() })),
  left_out: z.number(),
  total: sumsSchema,
});

const budgetSchema = z.looseObject({
  budget: z.string(),
  max_cost_micro_usd: z.number().nullable(),
  max_tokens: z.number().nullable(),
  warn_percent: z.number(),
  spent_micro_usd: z.number(),
  spent_tokens: z.number(),
  state: z.string(),
});
type Budget = z.infer<typeof budgetSchema>;

/** `muster llm usage`: sums of the calls of models. */
async function showUsage(options: UsageOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const query = queryOf({
    by: options.by,
    from: options.from,
    to: options.to,
    agent: options.agent,
    project: options.project,
  });
  const usage = await client.call("GET", `/v1/llm/usage${query}`, usageSchema);
  if (options.json === true) return printJson(usage);
  const { groups, total, by, left_out: left } = usage;
  const rows = groups.map((group) => [visible(group.name) || "(none)", ...cellsOf(group)]);
  const heads = ["CALLS", "FAILED", "TOKENS IN", "TOKENS OUT", "US DOLLARS"];
  print(table([by.toUpperCase(), ...heads], [...rows, ["all", ...cellsOf(total)]]));
  if (left > 0) print(`… and ${left} more, which are cheaper`);
  const { unpriced_calls: unpriced } = total;
  if (unpriced > 0) print(`The cost of ${unpriced} of the calls is not known`);
}

/** A cost that is not known of any call is none, and not zero. */
function cellsOf({ calls, failed, input_tokens: read, output_tokens: written, ...sums }: Sums) {
  const isUnknown = calls > 0 && sums.unpriced_calls === calls;
  return [
    ...[calls, failed, read, written].map(String),
    isUnknown ? "?" : dollars(sums.cost_micro_usd),
  ];
}

/** `muster llm budget set`: makes a budget, or replaces it. */
async function setBudget(name: string, options: LimitOptions): Promise<void> {
  const { cost, tokens, warn } = options;
  if (cost === undefined && tokens === undefined) {
    throw new CommandFailed("A budget needs --cost or --tokens", 2);
  }
  const client = await ApiClient.connect(options);
  const set: Budget = await client.call("PUT", pathOf(name), budgetSchema, {
    ...cost === undefined ? {} : { max_cost_micro_usd: microDollars(cost) },
    ...tokens === undefined ? {} : { max_tokens: tokens },
    ...warn === undefined ? {} : { warn_percent: warn },
  });
  if (options.json === true) return printJson(set);
  print(`${set.budget} is ${set.state}`);
}

function pathOf(budget: string): string {
  return `/v1/llm/budgets/${encodeURIComponent(budget)}`;
}

function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] =>
    entry[1] !== undefined
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

/** Millionths of an amount in US dollars, such as `5` or `0.25`. */
function microDollars(text: string): number {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) {
    throw new CommandFailed(`"${text}" is no amount in US dollars, such as 5 or 0.25`, 2);
  }
  return Math.round(Number(text) * MICRO);
}

/** Reads a number of tokens: a month may take billions. */
function checkTokens(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidValue("be a whole number of tokens");
}

const BUDGET = { usage: "<budget>" };

const BUDGETS: Group = {
  commands: [
    {
      name: "set",
      summary: "make a budget, or replace it",
      parameters: [BUDGET],
      options: [
        { flags: "--cost <usd>", summary: "most US dollars in the period, such as 5 or 0.25" },
        { flags: "--tokens <count>", summary: "most tokens in the period", parse: checkTokens },
        { flags: "--warn <percent>", summary: "when it warns (default: 80)", parse: checkCount },
        JSON_OPTION,
        URL_OPTION,
      ],
      notes: [
        "The name is all, type.TYPE, agent.NICK or project.SLUG, with .day or .month at its end.",
      ],
      run: setBudget,
    },
  ],
};

/** `muster llm`: what calls of models take, and budgets. */
export const LLM: Group = {
  commands: [
    {
      name: "usage",
      summary: "show the tokens and costs of calls of models, the most expensive first",
      options: [
        {
          flags: "--by <what>",
          summary: "agent, ticket, project, backend, model or day (default: agent)",
        },
        { flags: "--from <date>", summary: "the first day (default: 30 days in all)" },
        { flags: "--to <date>", summary: "the last day (default: today)" },
        { flags: "--agent <name>", summary: "only the calls of this agent, admin or bot" },
        { flags: "--project <slug>", summary: "only calls for tickets of this project" },
        JSON_OPTION,
        URL_OPTION,
      ],
      run: showUsage,
    },
    { name: "budget", summary: "budgets, which warn and then stop calls", ...BUDGETS },
  ],
  examples: [
    { line: "llm usage --by model", purpose: "See which models cost most" },
    { line: "llm budget set agent.scout.day --cost 5", purpose: "Let an agent spend $5 a day" },
  ],
};
