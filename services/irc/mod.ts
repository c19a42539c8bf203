/**
 * An IRC server as a library: see README.md.
 *
 * It imports nothing of the rest of muster; what it needs from it, {@linkcode IrcServerOptions}
 * says.
 */
export { IrcServer } from "./server.ts";
export type { Ban, Bans, BanSubject, BanWish } from "./bans.ts";
export type {
  ChannelControl,
  ChannelMember,
  GrantableStatus,
  StatusChange,
} from "./channel_control.ts";
export type { ChannelKeeper, KeptChannel, KeptEntry } from "./channel_keeping.ts";
export type { ReleasedNick, Service, ServiceCaller } from "./service.ts";
export { parseDuration } from "./duration.ts";
export type { ConnectOptions } from "./server.ts";
export type { ListenOptions } from "./listeners.ts";
export type { ConnectedClient, IrcStats } from "./stats.ts";
export type { WebSocketListenOptions } from "./websocket_listener.ts";
export type { MemoryConnection } from "./transport_memory.ts";
export type { Spoken, User, UserIdentity } from "./user.ts";
export { DEFAULT_LIMITS } from "./options.ts";
export type {
  AccountRegistration,
  Accounts,
  ChannelStatus,
  IrcLimits,
  IrcLogger,
  IrcObserver,
  IrcServerOptions,
  ObservedActor,
  ObservedMessage,
  ObservedRedaction,
  RateLimit,
  ScramAccounts,
  ScramChallenge,
  ScramProof,
  ScramVerification,
  StsPolicy,
  Verification,
} from "./options.ts";
export { HistoryKind } from "./history_store.ts";
export type {
  HistoryPart,
  HistoryQuery,
  HistoryRecord,
  HistoryReference,
  HistoryStore,
  HistoryTarget,
  LastMessage,
  NewHistoryRecord,
} from "./history_store.ts";
export { MARKED_TARGETS, type ReadMarkerStore } from "./read_markers.ts";
export { addressNetwork, isLoopback } from "./cloak.ts";
export { type Message, parseMessage } from "./message.ts";
export {
  channelName,
  compileMask,
  completeMask,
  foldCase,
  isChannelName,
  isNick,
  NICK_PATTERN,
} from "./names.ts";
