/**
 * The bots: see README.md. {@link Bots} runs those that their policies enable; each bot is a file
 * with its commands and what it hears, behind the door `catalog/mod.ts`.
 */
export {
  type BotCommand,
  type BotCommandCall,
  type BotContext,
  type BotDefinition,
  type BotInstance,
  type BotMessage,
  type BotName,
  type BotPlan,
  type BotSource,
  defineBot,
  type Right,
  type Speaker,
} from "./bot.ts";
export type { BotCondition } from "./bot_runner.ts";
export { Bots, type BotsOptions, type BotSummary, reportChannels } from "./bots.ts";
export { type Accepted, HeraldDesk, requireDesk } from "./herald_desk.ts";
export type { HeraldSource } from "./schemas.ts";
export { SOURCE_KINDS, type SourceKind } from "./herald_reading.ts";
export {
  type AgentMail,
  BotPort,
  type BotVoice,
  type BotVoices,
  BridgeVoices,
  ServerVoices,
} from "./voices.ts";
