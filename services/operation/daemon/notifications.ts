import { type Bridge } from "../../chat/bridge/mod.ts";
import { isChannelName } from "../../engines/irc/mod.ts";
import type { IrcServer } from "../../engines/irc/mod.ts";
import {
  Announcer,
  type ChannelDoors,
  Notifier,
  type NotifierOptions,
  ProjectChannels,
  type TicketNotes,
} from "../../oversight/notifications/mod.ts";
import type { Projects } from "../../work/projects/mod.ts";

/** How notifications reach IRC. */
export interface NotificationDoors {
  /** Null on an external network. */
  readonly channelDoors: ChannelDoors | null;
  readonly ircServer: Pick<IrcServer, "clients"> | null;
  /** Null if the configuration turns the bridge off. */
  readonly bridge: Bridge | null;
  /** Channels that the configuration names. */
  readonly configuredChannels: readonly string[];
}

export interface OpenNotificationsOptions
  extends
    NotificationDoors,
    Omit<NotifierOptions, "channels" | "announcer" | "hasSaid" | "people" | "projects"> {
  readonly projects: Projects;
  readonly ticketNotes: TicketNotes;
}

/** The parts of notifications. */
export interface Notifications {
  readonly projectChannels: ProjectChannels;
  readonly announcer: Announcer;
  readonly notifier: Notifier;
}

/** Starts to tell those whom events of projects concern. Adds each part to the stack that closes it. */
export async function openNotifications(
  options: OpenNotificationsOptions,
  started: AsyncDisposableStack,
): Promise<Notifications> {
  const { bridge, ircServer, scheduler, log, channelDoors: doors } = options;
  const projectChannels = new ProjectChannels({
    ...options,
    doors,
    configured: options.configuredChannels,
  });
  const announcer = new Announcer({
    say: (place, text, id) => say(bridge, place, text, id),
    scheduler,
    log,
  });
  started.defer(() => announcer.close());
  const notifier = new Notifier({
    ...options,
    channels: projectChannels,
    announcer,
    hasSaid: async (channel, id) => await bridge?.hasSaid(channel, id) ?? false,
    people: ircServer === null ? null : {
      nicksOf: (account) =>
        ircServer.clients().flatMap((client) =>
          client.account === account && client.nick !== null ? [client.nick] : []
        ),
    },
  });
  await notifier.start();
  started.defer(() => notifier.close());
  await options.ticketNotes.start();
  started.defer(() => options.ticketNotes.close());
  return { projectChannels, announcer, notifier };
}

/** Says a line in a channel, or to the user of a nick. */
async function say(
  bridge: Bridge | null,
  place: string,
  text: string,
  id: string | undefined,
): Promise<void> {
  if (bridge === null) return;
  if (isChannelName(place)) return await bridge.announce(place, text, { id });
  const line = { speaker: null, account: null, lines: [text], isEnvelope: false };
  await bridge.tell(place, line);
}
