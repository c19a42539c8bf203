import type { PeerValue, Scenario, Sizes } from "../scenarios/mod.ts";
import {
  type CoordinationServer,
  type CoordinationServerKind,
  MUSTER,
  SCUTTLEBOT,
  scuttlebotProgram,
} from "../servers/mod.ts";
import { mediansByKey } from "../statistics.ts";

/** Measurements of each server; the median counts. */
const ROUNDS = 3;

/** One value of a row, for muster and its peers. */
export interface Column<Key extends string> {
  readonly key: Key;
  readonly name: string;
  readonly unit: string;
  /** The project's aim: this value or less. */
  readonly aim?: number;
}

/** The values of one server in one round, or the medians of several. */
export type Values<Key extends string> = Readonly<Record<Key, number>>;

/** Measures a server that is up for one round. */
export type MeasureOnce<Key extends string> = () => Promise<Values<Key>>;

/** A server that is measured: muster or a peer. */
export interface Contestant<Key extends string> {
  readonly name: string;
  /**
   * Starts the server and its clients.
   *
   * @param open is closed after the last round
   */
  prepare(sizes: Sizes, open: AsyncDisposableStack): Promise<MeasureOnce<Key>>;
}

/** A row of the table: the same work done by muster and by its peers. */
export interface Row<Key extends string> {
  /** Appended to `peers-`. */
  readonly name: string;
  readonly columns: readonly Column<Key>[];
  /** Whether each round has new servers, which nobody has used. */
  readonly isOfNewServers?: boolean;
  describe(sizes: Sizes): string;
  obstacle?(sizes: Sizes): string | null;
  readonly muster: Contestant<Key>;
  /** The peers that can be measured here. */
  peers(): readonly Contestant<Key>[];
}

/**
 * A row for muster and ScuttleBot.
 *
 * @param row.on prepares a server that was started
 * @param row.more further peers
 */
export function coordinationRow<Key extends string>(
  { on, more = [], ...row }: Omit<Row<Key>, "muster" | "peers"> & {
    on(
      server: CoordinationServer,
      sizes: Sizes,
      open: AsyncDisposableStack,
    ): MeasureOnce<Key> | Promise<MeasureOnce<Key>>;
    readonly more?: readonly Contestant<Key>[];
  },
): Scenario {
  const contestant = (kind: CoordinationServerKind): Contestant<Key> => ({
    name: kind.name,
    prepare: async (sizes, open) => await on(open.use(await kind.start()), sizes, open),
  });
  return scenarioOf({
    ...row,
    muster: contestant(MUSTER),
    peers: () => [...scuttlebotProgram() === null ? [] : [contestant(SCUTTLEBOT)], ...more],
  });
}

/**
 * The scenario of a row: all servers are up, and are measured in turns. A peer that fails is
 * reported in its cell and does not fail the scenario.
 */
export function scenarioOf<Key extends string>(row: Row<Key>): Scenario {
  return {
    name: `peers-${row.name}`,
    anyIrcServer: false,
    describe: (sizes) => `${row.describe(sizes)}, median of ${ROUNDS}`,
    ...row.obstacle === undefined ? {} : { obstacle: row.obstacle },
    measure: async (sizes) => {
      const muster = new Side(row.muster);
      const peers = row.peers().map((peer) => new Side(peer));
      const sides = [muster, ...peers];
      if (row.isOfNewServers) {
        for (let round = 0; round < ROUNDS; round++) await measureInTurns(sides, sizes, [true]);
      } else {
        await measureInTurns(sides, sizes, [false, ...Array(ROUNDS).fill(true)]);
      }
      if (muster.problem !== null) throw muster.problem;
      return row.columns.map(({ key, ...column }) => ({
        ...column,
        value: muster.median(key),
        peers: peers.map((peer) => peer.value(key)),
      }));
    },
  };
}

/** Starts all servers and measures them in turns; `counts` says whether each round counts. */
async function measureInTurns<Key extends string>(
  sides: readonly Side<Key>[],
  sizes: Sizes,
  counts: readonly boolean[],
): Promise<void> {
  await using open = new AsyncDisposableStack();
  for (const side of sides) await side.prepare(sizes, open);
  for (const doesCount of counts) {
    for (const side of sides) await side.measure(doesCount);
  }
}

/** A contestant with what was measured; it does nothing more once it has failed. */
class Side<Key extends string> {
  readonly #contestant: Contestant<Key>;
  readonly #rounds: Values<Key>[] = [];
  #measureOnce: MeasureOnce<Key> | null = null;
  problem: Error | null = null;

  constructor(contestant: Contestant<Key>) {
    this.#contestant = contestant;
  }

  async prepare(sizes: Sizes, open: AsyncDisposableStack): Promise<void> {
    await this.#attempt(async () => {
      this.#measureOnce = await this.#contestant.prepare(sizes, open);
    });
  }

  async measure(doesCount: boolean): Promise<void> {
    await this.#attempt(async () => {
      const values = await this.#measureOnce?.();
      if (doesCount && values !== undefined) this.#rounds.push(values);
    });
  }

  median(key: Key): number {
    return mediansByKey(this.#rounds)[key];
  }

  value(key: Key): PeerValue {
    const { name } = this.#contestant;
    if (this.problem !== null) return { name, problem: this.problem.message };
    return { name, value: this.median(key) };
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    if (this.problem !== null) return;
    try {
      await work();
    } catch (error) {
      this.problem = error instanceof Error ? error : new Error(String(error));
    }
  }
}
