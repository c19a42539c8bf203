import type { Database, Peers } from "../database/mod.ts";
import type { Scheduler } from "../scheduler.ts";

export interface CurrencyOptions {
  readonly database: Pick<Database, "isCurrent" | "onPeersLooked"> & {
    readonly peers: Pick<Peers, "currentFor"> | null;
  };
  readonly scheduler: Scheduler;
  /** Called when this node no longer knows what the others end, and again each time it lost that. */
  readonly onLost: () => void;
}

/**
 * Watches whether this node is current: the others stop waiting for it a second after it is not.
 *
 * @returns a function that ends the watch
 */
export function watchCurrency({ database, scheduler, onLost }: CurrencyOptions): () => void {
  const { peers } = database;
  if (peers === null) return () => {};
  let wasCurrent = database.isCurrent;
  let cancel = () => {};
  const look = () => {
    cancel();
    const { isCurrent } = database;
    if (wasCurrent && !isCurrent) onLost();
    wasCurrent = isCurrent;
    if (!isCurrent) return;
    // The end of the lease itself still counts.
    cancel = scheduler.after(peers.currentFor + 1, look);
  };
  const unsubscribe = database.onPeersLooked(look);
  look();
  return () => {
    unsubscribe();
    cancel();
  };
}
