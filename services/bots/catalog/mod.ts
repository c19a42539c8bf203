/** Every bot. They are loaded when the first one is enabled. */
export { auditbot } from "../auditbot.ts";
export { herald } from "../herald.ts";
export { oracle } from "../oracle.ts";
export { scribe, type ScribeOptions } from "../scribe.ts";
export { scroll } from "../scroll.ts";
export { Reports, sentinel, type SentinelParts } from "../sentinel/mod.ts";
export { type ProjectWork, shepherd, type ShepherdParts } from "../shepherd/mod.ts";
export { type Presence, snitch, type SnitchParts } from "../snitch/mod.ts";
export { steward, type StewardParts } from "../steward/mod.ts";
export { systembot, type SystemFacts } from "../systembot.ts";
export { warden, type WardenParts } from "../warden/mod.ts";
export type { ModeratedServer } from "../moderation/mod.ts";
export type { ChannelHistory } from "../readable.ts";
