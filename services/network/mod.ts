/** An IRC network that muster does not run itself: the accounts there, and how they are changed. */
export type { NetworkAccount, NetworkAccounts, NetworkStatus, ServicesConsole } from "./network.ts";
