/** `deno task bench`: measures the program from outside and prints the figures; see README.md. */
import {
  type CommandLine,
  helpOf,
  InvalidValue,
  type Leaf,
  type Option,
  parse,
  UsageError,
} from "../cli/command_line/mod.ts";
import { print, printError } from "../cli/output.ts";
import { join } from "node:path";
import { namedExecutable } from "../tests/support/executable.ts";
import { VERSION } from "../services/kernel/version.ts";
import { BEFORE, CLUSTER } from "./cluster/mod.ts";
import { GIT_LARGE, HOSTING_LARGE } from "./hosting/mod.ts";
import { PEER_SCENARIOS, PEERS } from "./peers/mod.ts";
import { formatPeerTable, formatResult, type Result } from "./report.ts";
import { type Scenario, SCENARIOS, type Sizes } from "./scenarios/mod.ts";
import {
  ERGO,
  INSPIRCD,
  type IrcServerKind,
  MUSTER,
  MUSTER_LIMITS,
  NGIRCD,
} from "./servers/mod.ts";

interface Options extends Sizes {
  readonly against?: readonly string[];
  readonly json?: boolean;
}

/** Other servers with which muster can be compared. */
const OTHERS: readonly IrcServerKind[] = [NGIRCD, INSPIRCD, ERGO];

/** Runs the benchmark and returns the exit code: 1 if a scenario failed, 2 for wrong usage. */
async function main(words: readonly string[]): Promise<number> {
  try {
    const request = await parse(COMMAND_LINE, [BENCH, ...words]);
    if (request.kind === "run") {
      return await request.command.run(...request.values as never[]) as number;
    }
    if (request.kind === "help") print(helpOf(COMMAND_LINE, request.target, HELP_STYLE));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    printError(error.message);
    return 2;
  }
}

async function measure(names: readonly string[], options: Options): Promise<number> {
  if (options.senders >= options.members) {
    throw new UsageError("There must be more members than senders", [BENCH]);
  }
  const scenarios = scenariosOf(names);
  const others = named(OTHERS, options.against ?? []);
  const results: Result[] = [];
  const report = (result: Result, reference?: Result) => {
    results.push(result);
    if (options.json !== true) print(formatResult(result, reference) + "\n");
  };

  if (options.json !== true) print(`${machine()}\n${conditions()}\n`);
  for (const scenario of scenarios) {
    const reference = await run(scenario, options, MUSTER);
    report(reference);
    if (!scenario.anyIrcServer) continue;
    for (const other of others) report(await run(scenario, options, other), reference);
  }
  if (options.json === true) {
    print(JSON.stringify({ machine: machine(), conditions: conditions(), results }, null, 2));
  } else {
    const table = formatPeerTable(results);
    if (table !== "") print(table);
  }
  return results.every(({ failure }) => failure === undefined) ? 0 : 1;
}

/** A real repository of 6,392 check-ins, where it lies beside the tree. */
const EXPRESS = join(import.meta.dirname ?? ".", "..", "..", "shared", "data", "express.fossil");

/** Scenarios that a run without names leaves out: they take minutes, or need more than muster. */
const BY_NAME: ReadonlySet<Scenario> = new Set([GIT_LARGE, HOSTING_LARGE, CLUSTER, BEFORE]);

const SCENARIO_NAMES = SCENARIOS.map(({ name }) => name);

const PEER_NAMES = PEER_SCENARIOS.map(({ name }) => name);

/** The scenarios with these names; by default, all that take seconds and need only muster. */
function scenariosOf(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) return SCENARIOS.filter((scenario) => !BY_NAME.has(scenario));
  return [
    ...named(SCENARIOS, names),
    ...names.includes(PEERS) ? PEER_SCENARIOS : named(PEER_SCENARIOS, names),
  ];
}

const LEAF: Leaf = {
  parameters: [{ usage: "[scenario...]", choices: [...SCENARIO_NAMES, PEERS, ...PEER_NAMES] }],
  options: [
    count("members", 1000, "IRC clients in one channel"),
    count("senders", 10, "members that send, at most 100"),
    count("messages", 2000, "messages of one round of a fan-out"),
    count("rounds", 5, "repetitions; their median counts"),
    count("agents", 500, "agents that register and log in"),
    count("idle", 5000, "IRC clients that do nothing"),
    count("readers", 1000, "readers of event streams"),
    count("waiting", 1000, "agents that wait on their inboxes"),
    count("events", 200, "messages of one round to the event streams"),
    count("logins", 200, "logins of an admin at the same time"),
    count("strangers", 20_000, "connections that strangers hold"),
    count("attack", 60, "seconds for which strangers open more"),
    count("rate", 20, "messages per second when latency is measured"),
    count("seconds", 2, "length of one round of requests to muster and its peers"),
    count("starts", 10, "starts of the program"),
    {
      flags: "--repository <file>",
      summary: "Fossil repository to measure with",
      default: EXPRESS,
    },
    {
      flags: "--against <server...>",
      summary: "other IRC servers to compare with; must be installed",
      choices: OTHERS.map(({ name }) => name),
    },
    { flags: "--json", summary: "print JSON" },
  ],
  notes: [
    `Without a scenario, it measures all of these: ${SCENARIO_NAMES.join(", ")}.`,
    `${PEERS} measures muster beside its peers: ${PEER_NAMES.join(", ")}.`,
  ],
  run: measure,
};

/** The word that `deno task` takes for itself. */
const BENCH = "bench";

const COMMAND_LINE: CommandLine = {
  name: "deno task",
  summary: "",
  version: VERSION,
  options: [],
  default: BENCH,
  sections: [{
    title: "",
    entries: [{
      name: BENCH,
      summary: "measure muster on this machine and print the figures",
      standalone: true,
      load: () => Promise.resolve(LEAF),
    }],
  }],
  examples: [],
  notes: [],
};

const HELP_STYLE = { width: 100, title: (text: string) => text, program: "deno task" };

function count(name: string, preset: number, summary: string): Option {
  return { flags: `--${name} <count>`, summary, default: preset, parse: wholeNumber };
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidValue("be a whole number from 1 to 999999");
}

/** The items with these names, in the order of the items. */
function named<Item extends { readonly name: string }>(
  items: readonly Item[],
  names: readonly string[],
): readonly Item[] {
  return items.filter(({ name }) => names.includes(name));
}

async function run(scenario: Scenario, sizes: Sizes, server: IrcServerKind): Promise<Result> {
  const head = {
    scenario: scenario.name,
    server: server.name,
    description: scenario.describe(sizes),
  };
  const skipped = scenario.obstacle?.(sizes) ?? null;
  if (skipped !== null) return { ...head, figures: [], skipped };
  try {
    return { ...head, figures: await scenario.measure(sizes, server) };
  } catch (error) {
    return { ...head, figures: [], failure: String(error) };
  }
}

function machine(): string {
  return `Deno ${Deno.version.deno}, ${Deno.build.target}, ${navigator.hardwareConcurrency} cores`;
}

/** The measured program, and where its configuration differs from the default. */
function conditions(): string {
  const program = namedExecutable() ?? "main.ts";
  const limits = Object.entries(MUSTER_LIMITS).map(([key, value]) => `${key}=${value}`);
  return `muster (${program}) without flood limits: ${limits.join(", ")}`;
}

Deno.exit(await main(Deno.args));
