/**
 * NickServ and ChanServ: users of the embedded IRC server that look after accounts and channels.
 *
 * Each is a `CommandService` with a table of commands. What the registry of agents owns cannot be
 * changed through them. `RegisteredChannels` keeps channels in the app database; rights in them hang
 * on the internal ids of accounts, never on names.
 */
import type { IrcServer } from "../../../engines/irc/mod.ts";
import { chanServ, type ChanServOptions } from "./chan_serv.ts";
import { nickServ, type NickServOptions } from "./nick_serv.ts";

export { RegisteredChannels, type RegisteredChannelsOptions } from "./registered_channels.ts";
export { ChannelStore, UnregisteredChannels } from "./unregistered_channels.ts";

export interface IrcServicesOptions extends NickServOptions, Omit<ChanServOptions, "control"> {
  readonly server: Pick<IrcServer, "addService" | "channels">;
}

/** Adds NickServ and ChanServ to an IRC server. */
export function addIrcServices({ server, ...options }: IrcServicesOptions): void {
  server.addService(nickServ(options));
  server.addService(chanServ({ ...options, control: server.channels }));
}
