/** The services, built from the configuration, started, and stopped in reverse. */
export { type Daemon, type Services, startDaemon } from "./daemon.ts";
export { ircChanges } from "./irc.ts";
export { type IrcAddresses, type IrcListeners, NO_IRC_ADDRESSES } from "./irc_listeners.ts";
export { type DaemonOptions, StartError } from "./options.ts";
