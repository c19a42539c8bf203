/**
 * The bots: see README.md. {@link Bots} runs those that their policies enable; each bot is a file
 * with its commands and what it hears.
 */
export {
  ANSWER_LINES,
  type BotCommand,
  type BotCommandCall,
  type BotContext,
  type BotDefinition,
  type BotInstance,
  type BotMessage,
  type BotName,
  type BotPlan,
  defineBot,
  type Right,
  type Speaker,
} from "./bot.ts";
export type { BotCondition } from "./bot_runner.ts";
export { Bots, type BotsOptions, type BotSummary } from "./bots.ts";
export { auditbot } from "./auditbot.ts";
export { herald } from "./herald.ts";
export { reportChannels } from "./report_channels.ts";
export { type Accepted, HeraldDesk, type HeraldSource, heraldSourceSchema } from "./herald_desk.ts";
export { SOURCE_KINDS, type SourceKind } from "./herald_signatures.ts";
export { oracle } from "./oracle.ts";
export type { ChannelHistory } from "./readable.ts";
export { scribe, type ScribeOptions } from "./scribe.ts";
export { scroll } from "./scroll.ts";
export type { ModeratedServer } from "./moderation/mod.ts";
export { Reports, sentinel, type SentinelParts } from "./sentinel/mod.ts";
export { type ProjectWork, shepherd, type ShepherdParts } from "./shepherd/mod.ts";
export { type Presence, snitch, type SnitchParts } from "./snitch/mod.ts";
export { steward, type StewardParts } from "./steward/mod.ts";
export { systembot, type SystemFacts } from "./systembot.ts";
export { amount } from "./words.ts";
export {
  type AgentMail,
  BotPort,
  type BotVoice,
  type BotVoices,
  BridgeVoices,
  ServerVoices,
} from "./voices.ts";
export { warden, type WardenParts } from "./warden/mod.ts";
