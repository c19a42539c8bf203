import { z } from "zod";
import { channelName } from "../irc/mod.ts";
import { DEFAULTS } from "./defaults.ts";

const flag = z.boolean();
const text = z.string();
const texts = z.array(z.string());
/** The name of a channel; empty for none. */
const channel = z.string().refine((name) => name === "" || channelName(name) !== null, {
  error: "must be the name of a channel",
});
/** The names of channels, separated by commas or spaces. */
const channels = z.string().refine(
  (names) => names.split(/[\s,]+/).every((name) => name === "" || channelName(name) !== null),
  { error: "must be the names of channels" },
);
const count = z.int().min(0);
const amount = z.number().min(0);

/** A field that is shown with its default if unset. */
function shown<Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) {
  return schema.default(value as z.util.NoUndefined<z.output<Schema>>);
}

/** For a bot that uses a language model: the configured backend, and its model. */
const model = { backend: text.optional(), model: text.optional() };

const {
  auditbot,
  bridge,
  herald,
  oracle,
  scribe,
  scroll,
  sentinel,
  shepherd,
  snitch,
  steward,
  systembot,
  warden,
} = DEFAULTS;

/**
 * The fields of the known bots, each with its type and, if it has one, its default (`defaults.ts`). Times are in
 * the unit that the name ends in; a `channel` is written with `#`.
 */
export const BOTS = {
  auditbot: z.object({
    enabled: shown(flag, auditbot.enabled),
    audit_types: shown(texts, auditbot.audit_types),
    throttle_window_sec: shown(count, auditbot.throttle_window_sec),
    throttle_join_max: shown(count, auditbot.throttle_join_max),
    throttle_part_max: shown(count, auditbot.throttle_part_max),
    throttle_quit_max: shown(count, auditbot.throttle_quit_max),
    throttle_nick_max: shown(count, auditbot.throttle_nick_max),
    throttle_kick_max: shown(count, auditbot.throttle_kick_max),
  }),
  bridge: z.object({
    enabled: shown(flag, bridge.enabled),
    web_user_ttl_minutes: shown(z.number().positive().max(525_600), bridge.web_user_ttl_minutes),
  }),
  herald: z.object({
    enabled: shown(flag, herald.enabled),
    channel: shown(channel, herald.channel),
    routes: shown(z.record(z.string(), channel), herald.routes),
    rate_limit: shown(amount, herald.rate_limit),
    burst: shown(count, herald.burst),
  }),
  oracle: z.object({ enabled: shown(flag, oracle.enabled), ...model }),
  scribe: z.object({
    enabled: shown(flag, scribe.enabled),
    dir: text.optional(),
    format: shown(z.enum(["jsonl", "csv", "text"]), scribe.format),
    rotation: shown(
      z.enum(["none", "daily", "weekly", "monthly", "yearly", "size"]),
      scribe.rotation,
    ),
    max_size_mb: shown(amount, scribe.max_size_mb),
    max_age_days: shown(count, scribe.max_age_days),
    per_channel: shown(flag, scribe.per_channel),
  }),
  scroll: z.object({
    enabled: shown(flag, scroll.enabled),
    max_lines: shown(count, scroll.max_lines),
    rate_limit: shown(amount, scroll.rate_limit),
  }),
  sentinel: z.object({
    enabled: shown(flag, sentinel.enabled),
    ...model,
    channel: shown(channels, sentinel.channel),
    mod_channel: shown(channel, sentinel.mod_channel),
    policy: text.optional(),
    window_size: shown(count, sentinel.window_size),
    window_age_sec: shown(count, sentinel.window_age_sec),
    cooldown_sec: shown(count, sentinel.cooldown_sec),
    min_severity: shown(z.enum(["low", "medium", "high"]), sentinel.min_severity),
    dm_operators: shown(flag, sentinel.dm_operators),
    alert_nicks: shown(texts, sentinel.alert_nicks),
  }),
  shepherd: z.object({
    enabled: shown(flag, shepherd.enabled),
    ...model,
    channels: shown(z.array(channel), shepherd.channels),
    goals_source: text.optional(),
    checkin_interval_sec: shown(count, shepherd.checkin_interval_sec),
    report_channel: shown(channel, shepherd.report_channel),
  }),
  snitch: z.object({
    enabled: shown(flag, snitch.enabled),
    alert_channel: shown(channel, snitch.alert_channel),
    alert_nicks: shown(texts, snitch.alert_nicks),
    monitor_nicks: shown(texts, snitch.monitor_nicks),
    flood_messages: shown(count, snitch.flood_messages),
    flood_window_sec: shown(count, snitch.flood_window_sec),
    join_part_threshold: shown(count, snitch.join_part_threshold),
    join_part_window_sec: shown(count, snitch.join_part_window_sec),
    malformed_threshold: count.optional(),
  }),
  steward: z.object({
    enabled: shown(flag, steward.enabled),
    ...model,
    channel: channels.optional(),
    mod_channel: shown(channel, steward.mod_channel),
    operator_nicks: shown(texts, steward.operator_nicks),
    dm_on_action: shown(flag, steward.dm_on_action),
    auto_act: shown(flag, steward.auto_act),
    mute_duration_sec: shown(count, steward.mute_duration_sec),
    silence_low_warnings: shown(flag, steward.silence_low_warnings),
    cooldown_sec: shown(count, steward.cooldown_sec),
  }),
  systembot: z.object({ enabled: shown(flag, systembot.enabled) }),
  warden: z.object({
    enabled: shown(flag, warden.enabled),
    messages_per_second: shown(amount, warden.messages_per_second),
    burst: shown(count, warden.burst),
    cooldown_sec: shown(count, warden.cooldown_sec),
  }),
};

/** The bots whose fields are typed. */
export type KnownBot = keyof typeof BOTS;

/** The settings of a known bot: its own fields, and possibly others. */
export type BotSettings<Bot extends KnownBot> = z.infer<(typeof BOTS)[Bot]>;
