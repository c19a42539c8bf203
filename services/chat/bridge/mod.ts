/**
 * The bridge: a bot on IRC whose channels HTTP and MCP clients read and write.
 *
 * {@link Bridge} is what they call: it answers what was said and who is there. `ChannelEntry` takes
 * callers into channels, as far as `ChannelAccess` lets them; `Posting` says what they want to say. `Channels` are those that the bridge is in, each with its members and its
 * `MessageLog`, which history, streams and waiting readers all read and which `Intake` fills.
 *
 * Below, a `Link` is the way to the server, which comes back by itself and tells what happens as
 * `LinkEvent`s; each of its connections is a `Session`. To the server in this process that is a
 * `DirectSession`: messages pass as values, which nobody writes as lines (`DirectEvents`). To any
 * other it is a `LinkSession`, which logs in, lets lines out at the network's rate (`Pacer`) and
 * finds out by `PendingAcks` what became of a message if the server does not label its answers.
 * There irc-framework speaks IRC, over whatever carries lines (`transportOver`), and sees what
 * `LineFilter` lets through. Where several nodes share a network, messages take a way through the
 * database that gives all nodes the same (`NodeSharing`). The `Outbox` knows which echo belongs to
 * which post, and `Hearing` finds out whether any come. `connectParts` connects them.
 */
export { Bridge, type BridgeOptions, readChannelName } from "./bridge.ts";
export type {
  BridgeEars,
  BridgeLogin,
  BridgeStats,
  ChangeListener,
  ChannelActivity,
  ChannelChange,
  ChannelFollower,
  ChannelMessage,
  ChannelOverview,
  ChannelSearch,
  ChannelSummary,
  Following,
  FoundMessages,
  HeardAs,
  HeardMessage,
  NewPost,
  Speaker,
  Speakers,
} from "./types.ts";
export { compose, type Composition, cut, shownLines } from "./composition.ts";
export {
  type Envelope,
  formatEnvelope,
  parseEnvelope,
  readableEnvelope,
  subjectOf,
} from "./envelope.ts";
export { type BridgeNodes, type NodeBridge, NodeBridges, StoredVisits } from "./node_sharing.ts";
export { BRIDGE_TAGS, SPEAKER_TAG } from "./protocol.ts";
export { SharedChannels } from "./shared_channels.ts";
export { type LineStore, type NewLine, type StoredLine, StoredLines } from "./stored_lines.ts";
export type { MessageArchive } from "./playback.ts";
export { StoredChannels } from "./lasting_channels.ts";
export type { DirectConnect } from "./session.ts";
export type { Connect, LineConnection } from "./transport.ts";
export { NO_CHANNELS } from "./types.ts";
