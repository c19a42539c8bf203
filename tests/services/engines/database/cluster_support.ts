import {
  type Database,
  type NewEvent,
  openPostgres,
  statement,
} from "../../../../services/engines/database/mod.ts";
import { NoteExchange } from "../../../support/note_exchange.ts";
import { peer } from "../../../support/peers.ts";
import { holdLeases, postgresOf, query } from "../../../support/postgres.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { withFolder } from "../../../support/temporary.ts";

export const KEY = "0123456789abcdef".repeat(4);

/** A node, with the reasons of halts by scope as its directory. */
export interface Node {
  readonly name: string;
  readonly database: Database;
  readonly scheduler: TestScheduler;
  readonly reasons: Map<string, string | null>;
  /** The numbers of events that it has been told of. */
  readonly appended: number[];
}

export interface World {
  readonly url: string;
  readonly notes: NoteExchange;
  /** @param patience how long to wait for another program, in milliseconds */
  open(name: string, patience?: number): Promise<Node>;
  ask(sql: string): Promise<Record<string, unknown>[]>;
}

/** Declares a test of nodes that tell each other through PostgreSQL, and in notes. */
export function testCluster(name: string, run: (world: World) => Promise<void>): void {
  Deno.test(name, peer("postgres server"), () => withCluster(false, run));
  Deno.test(`${name}, in notes`, peer("postgres server"), () => withCluster(true, run));
}

/** The same of nodes that have notes. */
export function testNotes(name: string, run: (world: World) => Promise<void>): void {
  Deno.test(name, peer("postgres server"), () => withCluster(true, run));
}

function withCluster(hasNotes: boolean, run: (world: World) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const url = await postgresOf(folder);
    const notes = new NoteExchange();
    const opened: Database[] = [];
    const open = async (name: string, patience?: number) => {
      const node = await openNode(url, name, { isFirst: opened.length === 0, patience });
      opened.push(node.database);
      if (opened.length === 1) await holdLeases(url);
      if (hasNotes) node.database.peers?.use(notes.of(name));
      return node;
    };
    try {
      await run({ url, notes, open, ask: async (sql) => (await query(url, sql)).rows });
    } finally {
      for (const database of opened) await database.close();
    }
  });
}

/** Opens the database as a node. */
export function openDatabase(
  url: string,
  node: string,
  { isFirst = false, scheduler = new TestScheduler(), patience = 10_000 } = {},
): Promise<Database> {
  return openPostgres({
    url,
    password: null,
    patience,
    journalKey: { key: KEY, isNew: isFirst },
    cluster: { node, scheduler },
  });
}

async function openNode(
  url: string,
  name: string,
  { isFirst, patience = 10_000 }: {
    readonly isFirst: boolean;
    readonly patience: number | undefined;
  },
): Promise<Node> {
  const scheduler = new TestScheduler();
  const database = await openDatabase(url, name, { isFirst, scheduler, patience });
  const reasons = new Map<string, string | null>();
  const appended: number[] = [];
  database.onAppended((newest) => appended.push(newest));
  await database.keepCurrent({
    tables: ["halts"],
    load: async () => {
      const rows = await database.tables.selectFrom("halts").selectAll().execute();
      reasons.clear();
      for (const { subject, reason } of rows) reasons.set(subject, reason);
    },
  });
  return { name, database, scheduler, reasons, appended };
}

/** Halts agents of a type. */
export function halting({ name, database, reasons }: Node, subject: string, reason = name) {
  const row = { scope: "type", subject, halted: 1, reason, halted_by: name, since: 1 };
  return statement(database.tables.insertInto("halts").values(row), {
    committed: () => reasons.set(subject, reason),
  });
}

/** Ends that. */
export function resuming({ database, reasons }: Node, subject: string) {
  return statement(database.tables.deleteFrom("halts").where("subject", "=", subject), {
    mustChange: true,
    committed: () => reasons.delete(subject),
  });
}

/** An event that says nothing. */
export function anEvent(type: string): NewEvent {
  return { time: 1, type, actor: "system", actorId: null, address: null, cause: null, data: {} };
}
