import { z } from "zod";
import { MAX_PASSWORD_LENGTH } from "../identity/mod.ts";
import { accountNameSchema } from "../identity/schemas.ts";
import { CHANNEL_ARGUMENT_PATTERN, channelName } from "../../engines/irc/mod.ts";
import { textSchema } from "../../kernel/validation/schemas.ts";
import { AGENT_TYPES, uniqueChannels } from "./records.ts";

/** Channels that one agent may be registered with. */
const MAX_CHANNELS = 500;

const agentTypeSchema = z.enum(AGENT_TYPES, {
  error: 'must be "worker", "orchestrator", "observer" or "operator"',
}).default("worker").describe("What the agent is for");

const channelSchema = z.string().refine((text) => channelName(text) !== null, {
  error: "must be a channel name of 2 to 80 characters without space, comma or control character",
}).meta({ pattern: CHANNEL_ARGUMENT_PATTERN }).overwrite((text) => channelName(text) ?? text);

const channelsSchema = z.array(channelSchema).max(MAX_CHANNELS, {
  error: `must be at most ${MAX_CHANNELS} channels`,
}).overwrite(uniqueChannels).default([]).describe(
  "The channels that it works in, with or without #",
);

/** How many messages an agent may send: `burst` at once, then `perSecond`. */
export const rateLimitSchema = z.object({
  messages_per_second: z.number({ error: "must be a number" })
    .min(0.01, { error: "must be at least 0.01" }).max(1000, { error: "must be at most 1000" }),
  burst: z.int({ error: "must be a whole number" })
    .min(1, { error: "must be at least 1" }).max(10_000, { error: "must be at most 10000" }),
});

/** The request to adopt an IRC account as an agent. */
export const adoptionSchema = z.object({ type: agentTypeSchema, channels: channelsSchema });

/** The request to register an agent. The result has each channel once, with its `#`. */
export const registrationSchema = z.object({
  nick: accountNameSchema.describe("Unique name of the agent, also its nick on IRC"),
  type: agentTypeSchema,
  channels: channelsSchema,
  rate_limit: rateLimitSchema.nullable().optional()
    .describe("How many messages it may send; null: as many as everybody"),
});

/** The request to change an agent. */
export const agentChangeSchema = z.object({ rate_limit: rateLimitSchema.nullable() });

/** The request to pause an agent. */
export const pauseSchema = z.object({
  reason: textSchema(1, 200).nullable().default(null).describe("The reason that the agent gets"),
});

/** Most agents that one request names. */
const MAX_NAMED = 200;

const namedAgentsSchema = z.array(accountNameSchema).max(MAX_NAMED, {
  error: `must be at most ${MAX_NAMED} agents; name their types, or nobody for everybody`,
}).default([]).describe("The agents it is about");

const namedTypesSchema = z.array(z.enum(AGENT_TYPES, {
  error: 'must be "worker", "orchestrator", "observer" or "operator"',
})).max(AGENT_TYPES.length).default([]).describe("The types of agents it is about");

/** The request to halt agents; with neither agents nor types, it is about all of them. */
export const haltSchema = z.object({
  reason: textSchema(1, 200).nullable().default(null).describe("The reason that everybody gets"),
  agents: namedAgentsSchema,
  types: namedTypesSchema,
});

/** The request to let agents go on; with neither agents nor types, it is about all of them. */
export const resumeSchema = z.object({ agents: namedAgentsSchema, types: namedTypesSchema });

/** What rotating an agent's passphrase leaves unchanged. */
export const rotationSchema = z.object({
  keep_tokens: z.boolean().default(false)
    .describe("Whether the agent's tokens stay valid; they end with the passphrase otherwise"),
});

/** The request for an IRC account of a person. */
export const personSchema = z.object({
  account: accountNameSchema,
  password: textSchema(0, MAX_PASSWORD_LENGTH),
});

export type AdoptionRequest = z.infer<typeof adoptionSchema>;
export type RegistrationRequest = z.infer<typeof registrationSchema>;
export type Rotation = z.infer<typeof rotationSchema>;
export type Pause = z.infer<typeof pauseSchema>;
export type HaltRequest = z.infer<typeof haltSchema>;
export type ResumeRequest = z.infer<typeof resumeSchema>;
export type PersonRequest = z.infer<typeof personSchema>;

const slotLimit = z.int({ error: "must be a whole number" }).min(0, { error: "must be at least 0" })
  .max(100_000, { error: "must be at most 100000" }).nullable().default(null);

/** The request to limit an agent's slots. */
export const slotsSchema = z.object({
  claims: slotLimit.describe("Active claims; null for the limit of its type"),
  workspaces: slotLimit.describe("Active workspaces"),
  reviews: slotLimit.describe("Open reviews that it is the author of"),
  calls: slotLimit.describe("Calls of models at once"),
});
