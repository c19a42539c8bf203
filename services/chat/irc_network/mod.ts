/**
 * The accounts on an external IRC network, and their synchronisation with the database. {@link
 * openNetwork} opens them with one of the drivers.
 */
export { ErgoAccounts, type ErgoAccountsOptions } from "./ergo.ts";
export { ErgoApi, type ErgoApiOptions } from "./ergo_api.ts";
export { instanceIn } from "./ledger.ts";
export type { AccountSync, NetworkStats } from "./account_sync.ts";
export type { NetworkAccount, NetworkAccounts, NetworkStatus, ServicesConsole } from "./network.ts";
export { type IrcNetwork, type IrcNetworkOptions, type NetworkNodes, openNetwork } from "./open.ts";
export { ANOPE } from "./anope.ts";
export { ATHEME } from "./atheme.ts";
export { connectTcp, type TcpOptions, type TlsOptions } from "./connect.ts";
export { type ConsoleOptions, IrcConsole } from "./console.ts";
export { ServicesNetwork, type ServicesNetworkOptions } from "./services_network.ts";
export type { Credentials } from "./session.ts";
