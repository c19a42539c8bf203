/**
 * `deno task soak [HOURS]`: serves a small team for 72 hours in ten minutes. Memory, open files and
 * the processor time of a request must not grow by more than a tenth.
 *
 * `deno task soak kills [KILLS] [SEED]`: kills the real program, and before it some of its processes,
 * at random moments of a mixed load, and compares what it holds after each restart with what it acknowledged.
 *
 * `deno task soak inboxes [KILLS] [SEED]`: the same for messages that agents read and acknowledge.
 *
 * `deno task soak questions [KILLS] [SEED]`: the same for questions, their answers and deadlines.
 *
 * `deno task soak team [MINUTES]`: twenty agents and two people use the real program for ten
 * minutes, and every bot must be seen doing its part. `team-network`: the same on InspIRCd with
 * Atheme.
 *
 * `deno task soak cluster [AGENTS] [SECONDS] [SEED] [PART] …`: three nodes with so many agents on
 * IRC, over HTTP and on streams, and pushes to 20 projects. In the middle, one node is killed, a
 * project of it is restored on another one, the third node is drained, and PostgreSQL is restarted
 * twice. An even seed kills the node that leads. Parts: talk, mail, questions, tickets, pushes,
 * tokens, revocations, events.
 *
 * `deno task soak clones [OPERATIONS] [SEEDS] [SEED]`: three people with clones change a project at
 * random, through `fossil`, a newer `fossil` and the API. All clones must end equal and sound. So often
 * with so many seeds.
 *
 * `deno task soak doors [OPERATIONS] [SEEDS] [SEED]`: the same through `git`, `fossil` and the API: fresh
 * clones of both kinds must agree at every commit, and no hash that was ever shown may go.
 *
 * `deno task soak stalls [CHARACTERS]`: long runs of each character in each field, argument, line of IRC
 * and card of a push: none may keep a quiet channel waiting for 100 ms.
 *
 * The first two, `cluster`, `clones` and `doors` need `fossil`; `doors` needs `git`, too.
 */
import { cloneAtRandom } from "./clones.ts";
import { disturb, type Part, PARTS } from "./cluster/chaos.ts";
import { workAtBothDoors } from "./doors/work.ts";
import { live, type Measured, type Sample, typical } from "./days.ts";
import { deliver } from "./inboxes.ts";
import { soak } from "./kills.ts";
import { startProgram } from "../support/program.ts";
import { walk } from "./stalls/walk.ts";
import { decide } from "./questions.ts";
import { play } from "./team/play.ts";

/**
 * What workers remember of a repository's check-ins grows to 24 MB for each, and most of that within
 * so many rounds.
 */
const ROUNDS_BEFORE = 800;

const [first, ...rest] = Deno.args;
if (first === "stalls") Deno.exit(await walkAll(rest[0]));
const isPart = (word: string): word is Part => PARTS.some((part) => part === word);
const parts = rest.filter(isPart);
const numbers = rest.filter((word) => !isPart(word)).map(wholeNumber);
const [kills = 200, seed = Date.now() % 2 ** 31] = numbers;
if (first === "kills") await kill(kills, seed);
else if (first === "inboxes") await killReaders(kills, seed);
else if (first === "questions") await killAskers(kills, seed);
else if (first === "clones") await changeClones();
else if (first === "doors") await useDoors();
else if (first === "team") await playTeam(numbers[0] ?? 10, false);
else if (first === "team-network") await playTeam(numbers[0] ?? 10, true);
else if (first === "cluster") await disturbNodes();
else await serve(Math.max(3, wholeNumber(first ?? "72")));

/** An argument as a number; a run with a mistyped one would pass without doing anything. */
function wholeNumber(argument: string): number {
  if (/^\d{1,10}$/.test(argument)) return Number(argument);
  say(`${argument} is not a whole number.`);
  Deno.exit(2);
}

/** @returns the exit code */
async function walkAll(characters: string | undefined): Promise<number> {
  await using program = await startProgram();
  const { inputs, slow } = await walk(program, characters, say);
  say(`${inputs} inputs, ${slow.length} of them slow`);
  return slow.length === 0 ? 0 : 1;
}

async function serve(hours: number): Promise<void> {
  const onHour = (hour: number, sample: Sample) => {
    const values = [...sample].map(([name, { values, unit }]) =>
      `${name} ${show({ value: typical(values, unit), unit })}`
    );
    say(`hour ${hour}: ${values.join(", ")}`);
  };
  const { rounds, trends } = await live(hours, { before: ROUNDS_BEFORE, onHour });
  say(`The team worked ${rounds} times.`);
  for (const { name, first, last, grows } of trends) {
    const change = ((last.value / first.value - 1) * 100).toFixed(1);
    say(
      `${grows ? "GROWS" : "ok   "} ${name}: ${show(first)} after a tenth, ${
        show(last)
      } at the end ` +
        `(${change} %)`,
    );
  }
  if (trends.some(({ grows }) => grows)) Deno.exit(1);
}

async function kill(kills: number, seed: number): Promise<void> {
  say(`seed ${seed}`);
  const { acknowledged, processes } = await soak(kills, seed, (kill, tally) => {
    say(`kill ${kill} of ${kills}: ${tally.acknowledged} changes acknowledged, none lost`);
  });
  say(
    `${kills} kills, ${processes} of processes, ${acknowledged} changes: nothing lost, nothing half done`,
  );
}

async function killReaders(kills: number, seed: number): Promise<void> {
  say(`seed ${seed}`);
  const { sent, acknowledged } = await deliver(kills, seed, (tally) => {
    say(`kill ${tally.kills} of ${kills}: ${tally.sent} messages sent, none lost, none back`);
  });
  say(`${kills} kills, ${sent} messages, ${acknowledged} acknowledged: none lost, none back`);
}

async function killAskers(kills: number, seed: number): Promise<void> {
  say(`seed ${seed}`);
  const { asked, ended, expired } = await decide(kills, seed, (tally) => {
    say(`kill ${tally.kills} of ${kills}: ${tally.asked} questions asked, no end lost or changed`);
  });
  say(
    `${kills} kills, ${asked} questions, ${ended} ended, ${expired} by their deadline: once each`,
  );
}

async function changeClones(): Promise<void> {
  const [operations = 400, seeds = 10, start = Date.now() % 2 ** 31] = numbers;
  for (let seed = start; seed < start + seeds; seed++) {
    say(`seed ${seed}`);
    const { done, artifacts } = await cloneAtRandom(operations, seed);
    const counts = [...done].sort().map(([name, count]) => `${count} ${name}`);
    say(`${artifacts} artifacts in each clone, all sound; ${counts.join(", ")}`);
  }
}

async function useDoors(): Promise<void> {
  const [operations = 400, seeds = 10, start = Date.now() % 2 ** 31] = numbers;
  for (let seed = start; seed < start + seeds; seed++) {
    say(`seed ${seed}`);
    const { done, commits, objects } = await workAtBothDoors(operations, seed);
    const counts = [...done].sort().map(([name, count]) => `${count} ${name}`);
    say(`${commits} commits equal in both clones, ${objects} hashes kept; ${counts.join(", ")}`);
  }
}

async function playTeam(minutes: number, onNetwork: boolean): Promise<void> {
  const { rounds, said, acknowledged, ledger } = await play({ minutes, onNetwork, tell: say });
  for (const line of ledger.table()) say(line);
  say(`${rounds} rounds; ${said} messages in #work, none lost`);
  say(`${acknowledged} entries of inboxes acknowledged, none lost, none back`);
  const missing = ledger.missing();
  if (missing.length === 0) return;
  say(`Not seen: ${missing.join(", ")}`);
  Deno.exit(1);
}

async function disturbNodes(): Promise<void> {
  const [agents = 300, seconds = 180, seed = Date.now() % 2 ** 31] = numbers;
  say(`seed ${seed}`);
  const sizes = { agents, channels: Math.max(2, Math.ceil(agents / 30)), projects: 20, seconds };
  const { faults, counts } = await disturb({
    sizes,
    seed,
    tell: say,
    ...parts.length === 0 ? {} : { parts },
  });
  for (const [what, count] of [...counts].sort()) say(`${String(count).padStart(8)}  ${what}`);
  if (faults.length > 0) Deno.exit(1);
  say("Nothing acknowledged is lost or duplicated");
}

function show({ value, unit }: Measured): string {
  return unit === "B" ? `${(value / 1e6).toFixed(1)} MB` : `${Math.round(value)} ${unit}`.trim();
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
