/** What the bots that moderate share: acts on users, and the commands for them. */
export { type Moderating, moderationCommands } from "./commands.ts";
export { isSame, type ModeratedServer, Moderator, type Order, timeOf } from "./moderator.ts";
