import { z } from "zod";

const flag = z.boolean();
const text = z.string();
const texts = z.array(z.string());
const count = z.int().min(0);
const amount = z.number().min(0);

/** A field that is shown with its default if unset. */
function shown<Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) {
  return schema.default(value as z.util.NoUndefined<z.output<Schema>>);
}

/** For a bot that uses a language model: the configured backend, and its model. */
const model = { backend: text.optional(), model: text.optional() };

/**
 * The fields of the known bots, each with its type and, if it has one, its default. Times are in
 * the unit that the name ends in; a `channel` is written with `#`.
 */
export const BOTS = {
  auditbot: z.object({
    enabled: shown(flag, false),
    audit_types: shown(texts, []),
    throttle_window_sec: shown(count, 300),
    throttle_join_max: shown(count, 60),
    throttle_part_max: shown(count, 60),
    throttle_quit_max: shown(count, 60),
    throttle_nick_max: shown(count, 60),
    throttle_kick_max: shown(count, 0),
  }),
  bridge: z.object({
    enabled: shown(flag, true),
    web_user_ttl_minutes: shown(z.number().positive().max(525_600), 5),
  }),
  herald: z.object({
    enabled: shown(flag, false),
    channel: shown(text, "#alerts"),
    routes: shown(z.record(z.string(), z.string()), {}),
    rate_limit: shown(amount, 1),
    burst: shown(count, 5),
  }),
  oracle: z.object({ enabled: shown(flag, false), ...model }),
  scribe: z.object({
    enabled: shown(flag, false),
    dir: text.optional(),
    format: shown(z.enum(["jsonl", "csv", "text"]), "jsonl"),
    rotation: shown(z.enum(["none", "daily", "weekly", "monthly", "yearly", "size"]), "none"),
    max_size_mb: shown(amount, 0),
    max_age_days: shown(count, 0),
    per_channel: shown(flag, false),
  }),
  scroll: z.object({
    enabled: shown(flag, false),
    max_lines: shown(count, 50),
    rate_limit: shown(amount, 3),
  }),
  sentinel: z.object({
    enabled: shown(flag, false),
    ...model,
    channel: shown(text, "#general"),
    mod_channel: shown(text, "#moderation"),
    policy: text.optional(),
    window_size: shown(count, 20),
    window_age_sec: shown(count, 300),
    cooldown_sec: shown(count, 600),
    min_severity: shown(z.enum(["low", "medium", "high"]), "medium"),
    dm_operators: shown(flag, false),
    alert_nicks: shown(texts, []),
  }),
  shepherd: z.object({
    enabled: shown(flag, false),
    ...model,
    channels: shown(texts, []),
    goals_source: text.optional(),
    checkin_interval_sec: shown(count, 900),
    report_channel: shown(text, "#ops"),
  }),
  snitch: z.object({
    enabled: shown(flag, false),
    alert_channel: shown(text, "#ops"),
    alert_nicks: shown(texts, []),
    monitor_nicks: shown(texts, []),
    flood_messages: shown(count, 10),
    flood_window_sec: shown(count, 5),
    join_part_threshold: shown(count, 5),
    join_part_window_sec: shown(count, 30),
    malformed_threshold: count.optional(),
  }),
  steward: z.object({
    enabled: shown(flag, false),
    ...model,
    channel: text.optional(),
    mod_channel: shown(text, "#moderation"),
    operator_nicks: shown(texts, []),
    dm_on_action: shown(flag, false),
    auto_act: shown(flag, false),
    mute_duration_sec: shown(count, 600),
    silence_low_warnings: shown(flag, false),
    cooldown_sec: shown(count, 300),
  }),
  systembot: z.object({ enabled: shown(flag, false) }),
  warden: z.object({
    enabled: shown(flag, false),
    messages_per_second: shown(amount, 5),
    burst: shown(count, 10),
    cooldown_sec: shown(count, 60),
  }),
};

/** The bots whose fields are typed. */
export type KnownBot = keyof typeof BOTS;

/** The settings of a known bot: its own fields, and possibly others. */
export type BotSettings<Bot extends KnownBot> = z.infer<(typeof BOTS)[Bot]>;
