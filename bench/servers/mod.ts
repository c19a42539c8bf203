/** The servers that can be measured. */
export { ERGO } from "./ergo.ts";
export { INSPIRCD, NGIRCD } from "./foreign.ts";
export { MUSTER, MUSTER_LIMITS, MusterProcess } from "./muster.ts";
export type { IrcServerKind, IrcServerProcess } from "./server.ts";
