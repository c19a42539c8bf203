import { familyMemory } from "../../bench/process_usage.ts";
import { freePort } from "../support/free_port.ts";
import { countOpenFiles, type Program, startProgram } from "../support/program.ts";
import { Costs, YARDSTICK } from "./costs.ts";
import { Hours } from "./hour.ts";
import { Isolates } from "./isolates.ts";
import { prepare } from "./project.ts";

/** How long an hour takes by default, in milliseconds: 72 hours are six minutes. */
const HOUR = 5000;

/** How much a value may grow. */
const TOLERANCE = 1.1;

/** How long a start may take, in milliseconds: other work may keep the machine busy. */
const START_LIMIT = 120_000;

/**
 * What a small team fills within the first tenth: caches grow to their bounds and stay there. By
 * default the history in memory keeps 1,000 messages of each channel.
 */
const ENVIRONMENT = {
  MUSTER_PROJECTS_CLAIMS_PER_AGENT: "1000000",
  MUSTER_IRC_HISTORY_MESSAGES: "200",
};

/** A value that must not grow. */
export interface Measured {
  readonly value: number;
  readonly unit: "B" | "µs" | "";
}

/** What is measured of the server after an hour, by name: one value or several. */
export type Sample = ReadonlyMap<string, Pick<Measured, "unit"> & { readonly values: number[] }>;

/** How a value was after the first tenth, and at the end. */
export interface Trend {
  readonly name: string;
  readonly first: Measured;
  readonly last: Measured;
  readonly grows: boolean;
}

/** Options of {@linkcode live}. */
export interface LifeOptions {
  /** How often the team does its work before the first hour; by default never. */
  readonly before?: number;
  /** How long an hour takes at least, in milliseconds; in each, the team does its work once or more. */
  readonly hourMs?: number;
  /** Called after each hour of the second tenth and of the last one. */
  readonly onHour?: (hour: number, sample: Sample) => void;
}

/** What a soak did and saw. */
export interface Life {
  /** How often the team did its work. */
  readonly rounds: number;
  readonly trends: readonly Trend[];
}

/**
 * Lets the real program serve a small team for so many hours, by default each in five seconds.
 *
 * Measured are, after a full collection of each thread: what the threads of the main process hold,
 * the memory of it and of the processes that it has started, without the program's file; its open
 * files; and the processor time of a request of each kind. Time on the clock would tell how busy the
 * machine is.
 *
 * @param hours at least three
 * @returns how the second tenth and the last one differ
 */
export async function live(hours: number, options: LifeOptions = {}): Promise<Life> {
  const { before = 0, hourMs = HOUR, onHour = () => {} } = options;
  const inspector = freePort();
  await using program = await startProgram({
    environment: ENVIRONMENT,
    startLimit: START_LIMIT,
    inspector,
  });
  const tokens = await prepare(program, 2);
  using team = await Hours.begin(program, tokens);
  const costs = new Costs(program, team.cookie);
  using isolates = await Isolates.connect(inspector);
  for (let round = 0; round < before; round++) await team.next();
  const tenth = Math.max(1, Math.floor(hours / 10));
  const first: Sample[] = [];
  const last: Sample[] = [];
  let rounds = 0;
  const began = performance.now();
  for (let hour = 1; hour <= hours; hour++) {
    do {
      await team.next();
      rounds++;
    } while (performance.now() - began < hour * hourMs);
    // The first version of a page costs less than the next ones.
    if (hour === tenth) await costs.measure();
    const isFirst = hour > tenth && hour <= 2 * tenth;
    if (!isFirst && hour <= hours - tenth) continue;
    const sample = await measure(program, { costs, isolates });
    (isFirst ? first : last).push(sample);
    onHour(hour, sample);
  }
  return { rounds, trends: trendsOf(first, last) };
}

async function measure(
  program: Program,
  { costs, isolates }: { readonly costs: Costs; readonly isolates: Isolates },
): Promise<Sample> {
  const sample = new Map<string, { unit: Measured["unit"]; values: number[] }>();
  for (const [name, values] of await costs.measure()) sample.set(name, { unit: "µs", values });
  const held = await isolates.collect();
  const live = [...held.values()].reduce((sum, bytes) => sum + bytes, 0);
  const { anonymousBytes } = await familyMemory([program.pid]);
  sample.set("live memory", { unit: "B", values: [live] });
  sample.set("memory of all processes", { unit: "B", values: [anonymousBytes] });
  sample.set("files", { unit: "", values: [await countOpenFiles(program)] });
  return sample;
}

function trendsOf(first: readonly Sample[], last: readonly Sample[]): Trend[] {
  const names = [...first[0]?.keys() ?? []].filter((name) => name !== YARDSTICK);
  const speed = typicalOf(last, YARDSTICK) / typicalOf(first, YARDSTICK);
  return names.map((name) => {
    const unit = first[0]?.get(name)?.unit ?? "";
    const before = typicalOf(first, name);
    const after = typicalOf(last, name) / (unit === "µs" ? speed : 1);
    const grows = after > before * TOLERANCE;
    return { name, first: { value: before, unit }, last: { value: after, unit }, grows };
  });
}

/**
 * The median of a value; of processor time, the lowest tenth: whatever else the machine does makes
 * the same work slower, and never faster.
 */
function typicalOf(samples: readonly Sample[], name: string): number {
  const values = samples.flatMap((sample) => sample.get(name)?.values ?? []);
  return typical(values, samples[0]?.get(name)?.unit ?? "");
}

/** The value that stands for several ones of this unit. */
export function typical(values: readonly number[], unit: Measured["unit"]): number {
  const place = unit === "µs" ? 0.1 : 0.5;
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * place)] ?? 0;
}
