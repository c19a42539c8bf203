/**
 * An IRC server as a library: see README.md.
 *
 * It imports nothing from the rest of muster. {@linkcode IrcServerOptions} declares what it needs.
 */
export { IrcServer } from "./server.ts";
export { parseDuration } from "./admission/bans.ts";
export type { ChannelStanding } from "./channels/access.ts";
export type {
  ChannelControl,
  ChannelMember,
  GrantableStatus,
  StatusChange,
} from "./channels/control.ts";
export { hasDefaultState, isConfined, isSealed } from "./channels/keeping.ts";
export type { ReleasedNick, Service, ServiceCaller } from "./users/service.ts";
export { isUnescaped, shortAscii } from "./protocol/text.ts";
export type { ConnectOptions } from "./server.ts";
export { acceptConnections, AcceptFailures } from "./transport/accepting.ts";
export { closeConnection } from "./transport/proxy_protocol.ts";
export type { ListenOptions } from "./transport/listeners.ts";
export { TlsPort } from "./transport/tls_port.ts";
export type { ConnectedClient, IrcStats, PresentUser } from "./stats.ts";
export type { WebSocketListenOptions } from "./transport/websocket_listener.ts";
export type { MemoryConnection } from "./transport/memory.ts";
export type { DirectCommand, DirectConnection, DirectReceiver } from "./transport/direct.ts";
export { type MessageText, type Outbound, type ReplyTags, timeOf } from "./outbound.ts";
export type {
  AccountView,
  ConversationQuery,
  Correspondent,
  PrivateMessage,
} from "./account_view.ts";
export type { SeenChannel, SpeechMarks, Spoken, Told, User } from "./user.ts";
export { wholeId } from "./user.ts";
export {
  type Ban,
  type Bans,
  type BanSubject,
  type BanWish,
  type ChannelKeeper,
  DEFAULT_LIMITS,
  type Keeping,
  type KeptChannel,
  type KeptEntry,
  MARKED_TARGETS,
  type ReadMarkerStore,
  type UnregisteredState,
  type UserIdentity,
} from "./options.ts";
export type {
  AbsentUser,
  AccountRegistration,
  Accounts,
  ChannelStatus,
  IrcLimits,
  IrcLogger,
  IrcObserver,
  IrcServerOptions,
  JudgedMessage,
  ObservedActor,
  ObservedMessage,
  ObservedRedaction,
  ScramAccounts,
  ScramChallenge,
  ScramProof,
  ScramVerification,
  SpeechGuard,
  StsPolicy,
  Verification,
} from "./options.ts";
export { messageIn } from "./history/record.ts";
export { HistoryKind } from "./history/store.ts";
export type {
  HistoryPart,
  HistoryQuery,
  HistoryRecord,
  HistoryReference,
  HistoryStore,
  HistoryTarget,
  LastMessage,
  NewHistoryRecord,
} from "./history/store.ts";
export { addressNetwork, isLoopback } from "./protocol/addresses.ts";
export { formatTags, type Message, parseMessage } from "./protocol/message.ts";
export {
  CHANNEL_ARGUMENT_PATTERN,
  channelName,
  compileMask,
  completeMask,
  foldCase,
  isChannelName,
  isNick,
  NICK_LENGTH,
  NICK_PATTERN,
} from "./protocol/names.ts";
