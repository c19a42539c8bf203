/** The bots that this version knows: their default settings, and what each does. */

/**
 * The default settings of every known bot. A server whose operator has changed none needs no schema
 * to read them.
 */
export const DEFAULTS = {
  auditbot: {
    enabled: false,
    audit_types: [] as string[],
    throttle_window_sec: 300,
    throttle_join_max: 60,
    throttle_part_max: 60,
    throttle_quit_max: 60,
    throttle_nick_max: 60,
    throttle_kick_max: 0,
  },
  bridge: {
    enabled: true,
    web_user_ttl_minutes: 5,
  },
  herald: {
    enabled: false,
    channel: "#alerts",
    routes: {} as Record<string, string>,
    rate_limit: 1,
    burst: 5,
  },
  oracle: {
    enabled: false,
  },
  scribe: {
    enabled: false,
    format: "jsonl" as const,
    rotation: "none" as const,
    max_size_mb: 0,
    max_age_days: 0,
    per_channel: false,
  },
  scroll: {
    enabled: false,
    max_lines: 50,
    rate_limit: 3,
  },
  sentinel: {
    enabled: false,
    channel: "#general",
    mod_channel: "#moderation",
    window_size: 20,
    window_age_sec: 300,
    cooldown_sec: 600,
    min_severity: "medium" as const,
    dm_operators: false,
    alert_nicks: [] as string[],
  },
  shepherd: {
    enabled: false,
    channels: [] as string[],
    checkin_interval_sec: 900,
    report_channel: "#ops",
  },
  snitch: {
    enabled: false,
    alert_channel: "#ops",
    alert_nicks: [] as string[],
    monitor_nicks: [] as string[],
    flood_messages: 10,
    flood_window_sec: 5,
    join_part_threshold: 5,
    join_part_window_sec: 30,
  },
  steward: {
    enabled: false,
    mod_channel: "#moderation",
    operator_nicks: [] as string[],
    dm_on_action: false,
    auto_act: false,
    mute_duration_sec: 600,
    silence_low_warnings: false,
    cooldown_sec: 300,
  },
  systembot: {
    enabled: false,
  },
  warden: {
    enabled: false,
    messages_per_second: 5,
    burst: 10,
    cooldown_sec: 60,
  },
};

/** A bot that this version knows. */
export type KnownBot = keyof typeof DEFAULTS;

/** What each bot does, in one line: HELP, WHOIS, the page of bots and its documentation say it. */
export const PURPOSES: Readonly<Record<KnownBot, string>> = {
  auditbot: "Answers questions about the event log.",
  bridge: "Connects the channels of IRC with HTTP, MCP and the web pages.",
  herald: "Announces events from other programs in channels.",
  oracle: "Sums up what was said in a channel, to you alone.",
  scribe: "Writes what is said in channels into files, and finds it again.",
  scroll: "Replays what was said in a channel, to you alone.",
  sentinel:
    "Judges what people and agents say, by rules and, with a backend, by a model. Reports, but never acts.",
  shepherd: "Keeps goals and tasks, asks how they are going, and proposes what to do next.",
  snitch: "Raises alarms about floods, users that come and go, and watched agents that are gone.",
  steward: "Warns, mutes and kicks: by command and, if its policy says so, on sentinel's reports.",
  systembot: "Tells how the server is doing, and who joined and left its channels.",
  warden: "Stops floods, loops and endless exchanges before they reach a channel.",
};

/** What a bot does; null if the program does not know it. */
export function purposeOf(bot: string): string | null {
  return Object.hasOwn(PURPOSES, bot) ? PURPOSES[bot as KnownBot] : null;
}
