/** Every bot. They are loaded when the first one is enabled. */
export { auditbot } from "../auditbot.ts";
export { herald } from "../herald.ts";
export { oracle } from "../oracle.ts";
export { scribe, type ScribeOptions } from "../scribe.ts";
export { scroll } from "../scroll.ts";
export { Reports, sentinel, type SentinelParts } from "../sentinel/mod.ts";
export { type ProjectWork, shepherd, type ShepherdParts } from "../shepherd/mod.ts";
export { type Presence, snitch, type SnitchParts } from "../snitch.ts";
export { steward, type StewardParts } from "../steward.ts";
export { systembot, type SystemFacts } from "../systembot.ts";
export { warden, type WardenParts } from "../warden.ts";
export type { ModeratedServer } from "../moderation.ts";
export type { ChannelHistory } from "../readable.ts";
