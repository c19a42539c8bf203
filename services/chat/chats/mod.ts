/** Channels and private conversations, as people and admins see them on the web pages. */
export {
  type ChannelPart,
  Chats,
  type ChatsOptions,
  type ListedChannel,
  type NameTest,
  type Present,
  type ReadPositions,
  type SidebarChannel,
} from "./chats.ts";
export type { Correspondent } from "../../engines/irc/mod.ts";
export { readWritten, SLASH_COMMANDS, type SlashCommand, type Written } from "./slash_commands.ts";
export {
  type Conversation,
  Conversations,
  type ConversationsOptions,
  type ListedConversation,
  PrivateFeed,
} from "./conversations.ts";
