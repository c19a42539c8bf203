/**
 * NickServ and ChanServ: users of the embedded IRC server that look after accounts and channels.
 *
 * Each is a `CommandService` with a table of commands. What the registry of agents owns cannot be
 * changed through them. `RegisteredChannels` keeps channels in the app database; rights in them hang
 * on the internal ids of accounts, never on names.
 */
export { RegisteredChannels, type RegisteredChannelsOptions } from "./registered_channels.ts";
export { ChannelStore, UnregisteredChannels } from "./unregistered_channels.ts";
export { addIrcServices, type IrcServicesOptions } from "./open.ts";
