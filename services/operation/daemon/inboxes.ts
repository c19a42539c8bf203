import { bridgeNickOf } from "../config/mod.ts";
import {
  type InboxDoor,
  Inboxes,
  type InboxesOptions,
  InboxPosts,
  InboxStore,
  MissedMessages,
  NodeInboxes,
} from "../../chat/inboxes/mod.ts";
import { retentionOf, type Stores } from "./stores.ts";

/** Opens the inboxes of agents. Of several nodes, the one that leads keeps them. */
export async function openInboxes(
  { config, database, identity: { identity, accounts }, nodes, leadership, scheduler, log }: Stores,
  people: Pick<InboxesOptions, "roster" | "hears" | "isOnline" | "returns">,
  started: AsyncDisposableStack,
): Promise<InboxDoor> {
  const { age } = retentionOf(config);
  const guard = () => leadership.guard();
  const make = () =>
    new Inboxes({
      ...people,
      identity,
      queueTime: config.inboxes.queue_hours * 60 * 60 * 1000 || null,
      accounts,
      bridgeNick: bridgeNickOf(config),
      store: config.irc.history.persist
        ? new InboxStore({ database, age, scheduler, log, guard })
        : null,
      scheduler,
      log,
    });
  if (nodes.self === null) {
    const inboxes = make();
    started.defer(() => inboxes.stop());
    inboxes.start();
    return inboxes;
  }
  const inboxes = new NodeInboxes({
    ...people,
    make,
    posts: await InboxPosts.open(database),
    missed: new MissedMessages({ isLed: () => nodes.leader !== null, clock: scheduler.now }),
    scheduler,
    log,
  });
  leadership.add(inboxes);
  started.defer(() => inboxes.stop());
  return inboxes;
}
