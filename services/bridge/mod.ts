/**
 * The bridge: a bot on IRC whose channels HTTP and MCP clients read and write. It speaks IRC through
 * irc-framework, over whatever carries lines.
 */
export { Bridge } from "./bridge.ts";
export type {
  BridgeOptions,
  BridgeStats,
  ChannelSummary,
  Following,
  MessageQuery,
  NewPost,
} from "./bridge.ts";
export { type Envelope, formatEnvelope, parseEnvelope } from "./envelope.ts";
export type { ChannelMessage, Follower } from "./message_log.ts";
export { readChannelName } from "./names.ts";
export { type Scheduler, systemScheduler } from "./scheduler.ts";
export type { Connect, LineConnection } from "./transport.ts";
