import { z } from "zod";
import { channelName } from "../../engines/irc/mod.ts";
import { suggest } from "../../kernel/suggest.ts";
import { DEFAULTS, type KnownBot } from "./known_bots.ts";
import { isObject, type JsonObject } from "./merge_patch.ts";

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
 * The fields of the known bots, each with its type and, if it has one, its default (`DEFAULTS`). Times are in
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

/** The settings of a known bot: its own fields, and possibly others. */
export type BotSettings<Bot extends KnownBot> = z.infer<(typeof BOTS)[Bot]>;

const botName = z.string().regex(/^\P{Cc}{1,64}$/u, {
  error: "must be a name of 1 to 64 characters without control characters",
});

const unknownBot = z.looseObject({ enabled: z.boolean() });

/** All policies: for each bot its settings, among them whether it is enabled. */
export const policiesSchema = z.looseObject(mapBots((bot) => bot.loose().optional()))
  .catchall(unknownBot);

/**
 * A change of policies: named fields are set, `null` removes a field, the rest stays. Unknown bots
 * and fields are kept unchanged.
 */
export const policyPatchSchema = z.looseObject(mapBots(patchOfBot))
  .catchall(unknownBot.partial().extend({ enabled: z.boolean().nullish() }).nullable())
  .check((context) => {
    for (const name of Object.keys(context.value)) {
      if (botName.safeParse(name).success) continue;
      const message = "The name of a bot must have 1 to 64 characters, no control characters";
      context.issues.push({ code: "custom", message, input: name });
    }
  });

/**
 * The settings of a known bot, with defaults for missing fields, and for those that an earlier
 * version stored with values that are no longer allowed.
 */
export function readBot<Bot extends KnownBot>(
  bot: Bot,
  settings: Readonly<Record<string, unknown>>,
): BotSettings<Bot> {
  const read = BOTS[bot].safeParse(settings);
  if (read.success) return read.data as BotSettings<Bot>;
  const refused = new Set(read.error.issues.map(({ path }) => path[0]));
  const kept = Object.entries(settings).filter(([name]) => !refused.has(name));
  return BOTS[bot].parse(Object.fromEntries(kept)) as BotSettings<Bot>;
}

function mapBots<Result>(make: (bot: z.ZodObject) => Result): Record<string, Result> {
  return Object.fromEntries(Object.entries(BOTS).map(([name, bot]) => [name, make(bot)]));
}

function patchOfBot({ shape }: z.ZodObject) {
  const fields = Object.entries(shape).map(([name, field]) =>
    [name, patchOfField(field as z.ZodType)] as const
  );
  return z.looseObject(Object.fromEntries(fields)).nullish();
}

/** A field in a change: without its default, and `null` to remove it. */
function patchOfField(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) {
    return patchOfField(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodRecord) {
    const { keyType, valueType } = schema;
    return z.record(keyType as z.ZodString, (valueType as z.ZodType).nullable()).nullish();
  }
  return schema.nullish();
}

/** The kinds of fields: `texts` is a list of texts, `map` an object of texts. */
export type FieldKind = "flag" | "text" | "texts" | "number" | "choice" | "map";

/** A field of a bot's settings, for a form. */
export interface PolicyField {
  readonly name: string;
  readonly kind: FieldKind;
  /** What can be chosen; empty for other kinds. */
  readonly choices: readonly string[];
  /** Whether a number must be whole. */
  readonly isWhole: boolean;
  /** Its value while it is unset; null for none. */
  readonly byDefault: unknown;
}

/** The fields of a bot's settings in their order; null if no schema describes the bot. */
export function policyFields(bot: string): readonly PolicyField[] | null {
  const known = Object.entries(BOTS).find(([name]) => name === bot);
  if (known === undefined) return null;
  return Object.entries(known[1].shape).map(([name, schema]) =>
    fieldOf(name, schema as unknown as z.ZodType)
  );
}

/** What a schema says of itself. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly defaultValue?: unknown;
  readonly format?: string;
  readonly entries?: Readonly<Record<string, string>>;
}

function fieldOf(name: string, schema: z.ZodType): PolicyField {
  const definition = schema.def as unknown as Definition;
  if (definition.innerType !== undefined) {
    const inner = fieldOf(name, definition.innerType);
    return { ...inner, byDefault: definition.defaultValue ?? inner.byDefault };
  }
  return {
    name,
    kind: KINDS[definition.type] ?? "text",
    choices: Object.values(definition.entries ?? {}),
    isWhole: definition.format !== undefined,
    byDefault: null,
  };
}

const KINDS: Readonly<Record<string, FieldKind>> = {
  boolean: "flag",
  string: "text",
  array: "texts",
  number: "number",
  enum: "choice",
  record: "map",
};

/** The bots that this version of muster runs. */
const RUNNING: ReadonlySet<string> = new Set([
  "auditbot",
  "bridge",
  "herald",
  "oracle",
  "scribe",
  "scroll",
  "sentinel",
  "shepherd",
  "snitch",
  "steward",
  "systembot",
  "warden",
]);

/** The most warnings about one change, and the most characters of a name that one quotes. */
const MAX_WARNINGS = 20;
const MAX_NAME_LENGTH = 64;

/**
 * Finds settings without effect in a change of policies: bots that muster does not run, fields that
 * a known bot does not have, and backends that do not exist. They are stored anyway.
 *
 * @param patch the change, already validated
 * @param backends the names of the LLM backends
 * @returns sentences for the person who made the change, at most twenty
 */
export function policyWarnings(patch: JsonObject, backends: readonly string[]): string[] {
  const warnings = Object.entries(patch).flatMap(([bot, settings]) => {
    if (!isObject(settings)) return [];
    const known = shapeOf(bot);
    if (known === null) return [noSuch("bot", bot, Object.keys(BOTS))];
    const unknown = Object.keys(settings)
      .filter((field) => settings[field] !== null && !known.includes(field))
      .map((field) => noSuch(`field of "${bot}"`, field, known));
    if (unknown.length === 0 && !RUNNING.has(bot)) {
      return [`This version of muster does not run the bot "${bot}"; its policy is stored`];
    }
    const { backend } = settings;
    const isAbsent = known.includes("backend") && typeof backend === "string" && backend !== "" &&
      !backends.includes(backend);
    return isAbsent ? [...unknown, noSuch("LLM backend", backend, backends)] : unknown;
  });
  return warnings.slice(0, MAX_WARNINGS);
}

function shapeOf(bot: string): readonly string[] | null {
  const known = Object.entries(BOTS).find(([name]) => name === bot);
  return known === undefined ? null : Object.keys(known[1].shape);
}

function noSuch(kind: string, name: string, known: readonly string[]): string {
  const shown = name.slice(0, MAX_NAME_LENGTH);
  const meant = suggest(shown, known);
  const hint = meant === null ? "" : `; did you mean "${meant}"?`;
  return `There is no ${kind} called "${shown}"${hint}`;
}
