/** `deno task bench`: measures the program from outside and prints the figures; see README.md. */
import { Command, InvalidArgumentError } from "commander";
import { formatResult, type Result } from "./report.ts";
import { type Scenario, SCENARIOS, type Sizes } from "./scenarios/mod.ts";
import { type IrcServerKind, MUSTER, MUSTER_LIMITS } from "./servers/mod.ts";

interface Options extends Sizes {
  readonly json: boolean;
}

/** Runs the benchmark; false when something could not be measured. */
async function main(args: readonly string[]): Promise<boolean> {
  const command = createCommand();
  command.parse([...args], { from: "user" });
  const options = command.opts<Options>();
  const scenarios = chosen(command.args);
  if (!options.json) print(`${machine()}\n${conditions()}\n`);
  const results: Result[] = [];
  for (const scenario of scenarios) {
    const result = await run(scenario, options, MUSTER);
    results.push(result);
    if (!options.json) print(formatResult(result) + "\n");
  }
  if (options.json) {
    print(JSON.stringify({ machine: machine(), conditions: conditions(), results }, null, 2));
  }
  return results.every(({ failure }) => failure === undefined);
}

function createCommand(): Command {
  const names = SCENARIOS.map(({ name }) => name).join(", ");
  return new Command("deno task bench")
    .description("Measure muster on this machine and print the figures")
    .argument("[scenario...]", `what to measure: ${names}; everything where nothing is named`)
    .option("--members <count>", "IRC clients in one channel", atLeastOne, 1000)
    .option("--senders <count>", "members that send, at most 100", atLeastOne, 10)
    .option("--messages <count>", "messages of one round of a fan-out", atLeastOne, 2000)
    .option("--rounds <count>", "repetitions, of which the median counts", atLeastOne, 3)
    .option("--agents <count>", "agents that register and log in", atLeastOne, 500)
    .option("--idle <count>", "IRC clients that do nothing", atLeastOne, 5000)
    .option("--readers <count>", "readers of event streams", atLeastOne, 1000)
    .option("--events <count>", "messages of one round to the event streams", atLeastOne, 200)
    .option("--rate <count>", "messages per second where latency is measured", atLeastOne, 20)
    .option("--starts <count>", "starts of the program", atLeastOne, 10)
    .option("--json", "print JSON", false);
}

function atLeastOne(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** @throws Error where a name is unknown */
function chosen(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) return SCENARIOS;
  return names.map((name) => {
    const scenario = SCENARIOS.find((scenario) => scenario.name === name);
    if (scenario === undefined) throw new Error(`There is no scenario "${name}"`);
    return scenario;
  });
}

async function run(scenario: Scenario, sizes: Sizes, server: IrcServerKind): Promise<Result> {
  const head = {
    scenario: scenario.name,
    server: server.name,
    description: scenario.describe(sizes),
  };
  try {
    return { ...head, figures: await scenario.measure(sizes, server) };
  } catch (error) {
    return { ...head, figures: [], failure: String(error) };
  }
}

function machine(): string {
  return `Deno ${Deno.version.deno}, ${Deno.build.target}, ${navigator.hardwareConcurrency} cores`;
}

function conditions(): string {
  const limits = Object.entries(MUSTER_LIMITS).map(([key, value]) => `${key}=${value}`);
  return `muster runs with its defaults, but for ${limits.join(" and ")} (no flood limits)`;
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

Deno.exit(await main(Deno.args) ? 0 : 1);
