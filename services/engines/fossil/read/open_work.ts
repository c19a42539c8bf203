import { listBranches } from "./branches.ts";
import { MainCheckins } from "./main_checkins.ts";
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

function countUnmerged(reader: Reader): number {
  const main = new MainCheckins(reader);
  return listBranches(reader)
    .filter((branch) => branch.status === "open" && !main.hasTipOf(branch)).length;
}
