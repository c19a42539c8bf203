import type { Figure, Scenario, Sizes } from "../scenarios/mod.ts";
import {
  type CoordinationServer,
  type CoordinationServerKind,
  MUSTER,
  SCUTTLEBOT,
  scuttlebotProgram,
} from "../servers/mod.ts";
import { mediansByKey } from "../statistics.ts";

/** Measurements of each server; the median counts. */
export const ROUNDS = 3;

/** One value of a row, for muster and its peers. */
export interface Column<Key extends string> {
  readonly key: Key;
  readonly name: string;
  readonly unit: string;
  /** The project's aim: this value or less. */
  readonly aim: number;
}

/** The values of one server in one round, or the medians of several. */
export type Values<Key extends string> = Readonly<Record<Key, number>>;

/** A server that is measured beside muster. */
export interface Contestant<Key extends string> {
  readonly name: string;
  measure(sizes: Sizes): Promise<Values<Key>>;
}

/** A row of the table: the same work done by muster and by its peers, one after the other. */
export interface Row<Key extends string> {
  /** Appended to `peers-`. */
  readonly name: string;
  readonly columns: readonly Column<Key>[];
  describe(sizes: Sizes): string;
  measure(sizes: Sizes): Promise<Values<Key>>;
  /** The peers that can be measured here. */
  peers(): readonly Contestant<Key>[];
}

/**
 * A row for muster and ScuttleBot.
 *
 * @param row.on starts a kind of server and measures it
 * @param row.more further peers
 */
export function coordinationRow<Key extends string>(
  { on, more = [], ...row }: Omit<Row<Key>, "measure" | "peers"> & {
    on(kind: CoordinationServerKind, sizes: Sizes): Promise<Values<Key>>;
    readonly more?: readonly Contestant<Key>[];
  },
): Scenario {
  return scenarioOf({
    ...row,
    measure: (sizes) => on(MUSTER, sizes),
    peers: () => [
      ...scuttlebotProgram() === null
        ? []
        : [{ name: SCUTTLEBOT.name, measure: (sizes: Sizes) => on(SCUTTLEBOT, sizes) }],
      ...more,
    ],
  });
}

/**
 * The scenario of a row. A peer that fails is reported in its cell and does not fail the scenario.
 */
export function scenarioOf<Key extends string>(row: Row<Key>): Scenario {
  return {
    name: `peers-${row.name}`,
    anyIrcServer: false,
    describe: (sizes) => `${row.describe(sizes)}, median of ${ROUNDS}`,
    measure: async (sizes) => {
      const values = await row.measure(sizes);
      const peers: PeerResult<Key>[] = [];
      for (const peer of row.peers()) peers.push(await resultOf(peer, sizes));
      return row.columns.map((column) => figureOf(column, values, peers));
    },
  };
}

/**
 * Starts a server, measures it in several rounds after a warm-up round, and ends it.
 *
 * @param prepare returns a function that measures one round; `open` is closed after the last one
 */
export async function inRounds<Key extends string>(
  kind: CoordinationServerKind,
  prepare: (
    server: CoordinationServer,
    open: DisposableStack,
  ) => Promise<() => Promise<Values<Key>>>,
): Promise<Values<Key>> {
  await using server = await kind.start();
  using open = new DisposableStack();
  const measureOnce = await prepare(server, open);
  await measureOnce();
  return await repeat(measureOnce);
}

/** The medians of several rounds. */
export async function repeat<Key extends string>(
  measureOnce: () => Promise<Values<Key>>,
): Promise<Values<Key>> {
  const rounds: Values<Key>[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measureOnce());
  return mediansByKey(rounds);
}

interface PeerResult<Key extends string> {
  readonly name: string;
  /** The values, or the reason why there are none. */
  readonly values: Values<Key> | string;
}

async function resultOf<Key extends string>(
  { name, measure }: Contestant<Key>,
  sizes: Sizes,
): Promise<PeerResult<Key>> {
  try {
    return { name, values: await measure(sizes) };
  } catch (error) {
    return { name, values: error instanceof Error ? error.message : String(error) };
  }
}

function figureOf<Key extends string>(
  { key, ...figure }: Column<Key>,
  values: Values<Key>,
  peers: readonly PeerResult<Key>[],
): Figure {
  return {
    ...figure,
    value: values[key],
    peers: peers.map((peer) =>
      typeof peer.values === "string"
        ? { name: peer.name, problem: peer.values }
        : { name: peer.name, value: peer.values[key] }
    ),
  };
}
