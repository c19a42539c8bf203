/** `deno task bench`: measures the program from outside and prints the figures; see README.md. */
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { join } from "node:path";
import { formatResult, type Result } from "./report.ts";
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
  readonly against: readonly string[];
  readonly json: boolean;
}

/** Servers of others that muster can be compared with. */
const OTHERS: readonly IrcServerKind[] = [NGIRCD, INSPIRCD, ERGO];

/** Runs the benchmark; false when something could not be measured. */
async function main(args: readonly string[]): Promise<boolean> {
  const command = createCommand();
  command.parse([...args], { from: "user" });
  const options = command.opts<Options>();
  if (options.senders >= options.members) command.error("There must be more members than senders.");
  const scenarios = named(SCENARIOS, command.args.length > 0 ? command.args : SCENARIO_NAMES);
  const others = named(OTHERS, options.against);
  const results: Result[] = [];
  const report = (result: Result, reference?: Result) => {
    results.push(result);
    if (!options.json) print(formatResult(result, reference) + "\n");
  };

  if (!options.json) print(`${machine()}\n${conditions()}\n`);
  for (const scenario of scenarios) {
    const reference = await run(scenario, options, MUSTER);
    report(reference);
    if (!scenario.anyIrcServer) continue;
    for (const other of others) report(await run(scenario, options, other), reference);
  }
  if (options.json) {
    print(JSON.stringify({ machine: machine(), conditions: conditions(), results }, null, 2));
  }
  return results.every(({ failure }) => failure === undefined);
}

/** A real repository of 6,392 check-ins, where it lies beside the tree. */
const EXPRESS = join(import.meta.dirname ?? ".", "..", "..", "shared", "data", "express.fossil");

const SCENARIO_NAMES = SCENARIOS.map(({ name }) => name);

function createCommand(): Command {
  return new Command("deno task bench")
    .description("Measure muster on this machine and print the figures")
    .addArgument(
      new Argument("[scenario...]", "what to measure; everything where nothing is named")
        .choices(SCENARIO_NAMES),
    )
    .option("--members <count>", "IRC clients in one channel", wholeNumber, 1000)
    .option("--senders <count>", "members that send, at most 100", wholeNumber, 10)
    .option("--messages <count>", "messages of one round of a fan-out", wholeNumber, 2000)
    .option("--rounds <count>", "repetitions, of which the median counts", wholeNumber, 5)
    .option("--agents <count>", "agents that register and log in", wholeNumber, 500)
    .option("--idle <count>", "IRC clients that do nothing", wholeNumber, 5000)
    .option("--readers <count>", "readers of event streams", wholeNumber, 1000)
    .option("--events <count>", "messages of one round to the event streams", wholeNumber, 200)
    .option("--logins <count>", "logins of an admin at the same time", wholeNumber, 200)
    .option("--strangers <count>", "connections that strangers hold", wholeNumber, 20_000)
    .option("--attack <seconds>", "how long strangers open more", wholeNumber, 60)
    .option("--rate <count>", "messages per second where latency is measured", wholeNumber, 20)
    .option("--starts <count>", "starts of the program", wholeNumber, 10)
    .option("--repository <file>", "Fossil repository to measure with", EXPRESS)
    .addOption(
      new Option("--against <server...>", "other IRC servers to compare with; must be installed")
        .choices(OTHERS.map(({ name }) => name))
        .default([]),
    )
    .option("--json", "print JSON", false);
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) {
    throw new InvalidArgumentError("It must be a whole number from 1 to 999999.");
  }
  return Number(text);
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

/** What runs, and where its configuration is not the default. */
function conditions(): string {
  const program = Deno.env.get("MUSTER_EXECUTABLE") ?? "main.ts";
  const limits = Object.entries(MUSTER_LIMITS).map(([key, value]) => `${key}=${value}`);
  return `muster (${program}) without flood limits: ${limits.join(", ")}`;
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

Deno.exit(await main(Deno.args) ? 0 : 1);
