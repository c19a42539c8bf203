import { mainBranch } from "../content/mod.ts";
import { ancestryOf } from "./ancestry.ts";
import { listBranches } from "./branches.ts";
import type { Reader } from "./reader.ts";
import type { OpenWork } from "./shapes.ts";
import { listTickets } from "./ticket_lists.ts";

/** How much in a repository is not finished. */
export function readOpenWork(reader: Reader): OpenWork {
  return reader.read(() => ({
    open_tickets: listTickets(reader, { state: "open", limit: 1, offset: 0 }).total,
    unmerged_branches: countUnmerged(reader),
  }));
}

/** The open branches whose newest check-in the main branch lacks. */
function countUnmerged(reader: Reader): number {
  const main = mainBranch(reader.repository);
  const branches = listBranches(reader);
  const others = branches.filter(({ name, status }) => name !== main && status === "open");
  const tip = branches.find(({ name }) => name === main)?.last_uuid;
  if (tip === undefined || others.length === 0) return others.length;
  const { store } = reader.repository;
  const merged = ancestryOf(reader).ancestors(store.ridOf(tip));
  return others.filter(({ last_uuid }) => merged[store.ridOf(last_uuid)] !== 1).length;
}
