/** The servers that the bench can measure. */
export {
  type CoordinationServer,
  type CoordinationServerKind,
  joinBridge,
  post,
  registerAgents,
} from "./coordination.ts";
export { ERGO } from "./ergo.ts";
export { type Floor, startFloor, streamOfFloor } from "./floor.ts";
export { giteaProgram, GiteaServer } from "./gitea.ts";
export { INSPIRCD, NGIRCD } from "./foreign.ts";
export { MUSTER, MUSTER_LIMITS, MusterProcess } from "./muster.ts";
export { SCUTTLEBOT, scuttlebotProgram } from "./scuttlebot.ts";
export type { IrcServerKind, IrcServerProcess } from "./server.ts";
