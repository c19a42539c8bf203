import type { BotSettings, KnownBot } from "../../services/chat/policies/mod.ts";

/** What a form says of a field. */
export interface FieldWords {
  readonly label: string;
  /** A sentence below the field, where the label does not say everything. */
  readonly hint?: string;
  /** Whether its text has several lines. */
  readonly isLong?: boolean;
}

/** Every field of every bot. A new field without words here does not compile. */
type Words = { readonly [Bot in KnownBot]: Fields<BotSettings<Bot>> };
type Fields<Settings> = { readonly [Name in keyof Required<Settings>]: FieldWords };

const ENABLED: FieldWords = { label: "The bot is on" };

const MODEL = {
  backend: { label: "LLM backend", hint: "The name of one of the backends. Empty: no model." },
  model: { label: "Model", hint: "Empty: the one that the backend has as its default." },
};

const AT_ONCE = "Allowed after a silence, before the limit per second holds.";
const NICKS = "In private, beside the channel.";

/** @param kind what is counted, such as "joins" */
function most(kind: string): FieldWords {
  return {
    label: `Most ${kind} recorded in a window`,
    hint: "The rest becomes one line. 0: every one is recorded.",
  };
}

const WORDS: Words = {
  auditbot: {
    enabled: ENABLED,
    audit_types: {
      label: "Types of events that it reads",
      hint: "Such as agent.* or channel.join. Empty: all.",
    },
    throttle_window_sec: { label: "Length of a window (seconds)" },
    throttle_join_max: most("joins"),
    throttle_part_max: most("departures from channels"),
    throttle_quit_max: most("ends of connections"),
    throttle_nick_max: most("changes of nicks"),
    throttle_kick_max: most("kicks"),
  },
  bridge: {
    enabled: ENABLED,
    web_user_ttl_minutes: {
      label: "Presence over HTTP lasts (minutes)",
      hint:
        "After each call over HTTP or MCP or from these pages, a channel shows its author for so long.",
    },
  },
  herald: {
    enabled: ENABLED,
    channel: { label: "Channel", hint: "For events that no route fits." },
    routes: {
      label: "Routes",
      hint: "The prefix of a type of events, and its channel. The longest prefix wins.",
    },
    rate_limit: { label: "Events per second", hint: "More wait for their turn. 0: no limit." },
    burst: { label: "Events at once", hint: AT_ONCE },
  },
  oracle: { enabled: ENABLED, ...MODEL },
  scribe: {
    enabled: ENABLED,
    dir: { label: "Folder of the files", hint: "Empty: logs/scribe in the data folder." },
    format: { label: "Format of the files" },
    rotation: { label: "A new file begins", hint: "none: never. size: when a file is full." },
    max_size_mb: {
      label: "Largest file (MB)",
      hint: "0: no limit, and 100 where a new file begins by size.",
    },
    max_age_days: { label: "Messages are kept (days)", hint: "0: forever." },
    per_channel: { label: "Each channel has its own files" },
  },
  scroll: {
    enabled: ENABLED,
    max_lines: { label: "Most messages of one replay", hint: "0: no replays." },
    rate_limit: { label: "Lines per second", hint: "After the first ten. 0: no limit." },
  },
  sentinel: {
    enabled: ENABLED,
    ...MODEL,
    channel: { label: "Channels to judge", hint: "With commas between them. *: all." },
    mod_channel: { label: "Channel for reports" },
    policy: {
      label: "Policy",
      hint:
        "A line such as “keyword high: rm -rf” adds words to the rules. A model gets all of it as its instruction.",
      isLong: true,
    },
    window_size: { label: "Messages that the model gets" },
    window_age_sec: { label: "How old these may be (seconds)" },
    cooldown_sec: {
      label: "Pause between reports (seconds)",
      hint: "About one speaker in one channel, unless it gets worse.",
    },
    min_severity: { label: "Report from this severity on" },
    dm_operators: { label: "Tell IRC operators in private too" },
    alert_nicks: { label: "Nicks that get reports too", hint: NICKS },
  },
  shepherd: {
    enabled: ENABLED,
    ...MODEL,
    channels: { label: "Channels that have goals", hint: "Empty: all." },
    goals_source: {
      label: "Projects",
      hint: "Their open tickets and claims count as goals. Short names, separated by commas.",
    },
    checkin_interval_sec: {
      label: "Ask the owners of tasks every (seconds)",
      hint: "0: never.",
    },
    report_channel: {
      label: "Channel for reports",
      hint: "A report names an owner after three questions without an answer.",
    },
  },
  snitch: {
    enabled: ENABLED,
    alert_channel: { label: "Channel for alarms" },
    alert_nicks: { label: "Nicks that get alarms too", hint: NICKS },
    monitor_nicks: { label: "Watched nicks", hint: "You get an alarm when one goes away." },
    flood_messages: { label: "Messages that make a flood", hint: "0: no such alarm." },
    flood_window_sec: { label: "Within (seconds)", hint: "All of them in one channel." },
    join_part_threshold: {
      label: "Joins and departures that make an alarm",
      hint: "0: no such alarm.",
    },
    join_part_window_sec: { label: "Within (seconds)", hint: "All of them by one user." },
    malformed_threshold: {
      label: "Malformed envelopes that make an alarm",
      hint: "Within a minute. Empty or 0: no such alarm.",
    },
  },
  steward: {
    enabled: ENABLED,
    ...MODEL,
    channel: { label: "Channels in which it acts", hint: "With commas between them. Empty: all." },
    mod_channel: { label: "Channel in which it says what it does" },
    operator_nicks: {
      label: "Accounts that may command it",
      hint: "In every channel, beside the operators of a channel and admins.",
    },
    dm_on_action: { label: "Tell these accounts in private what it does" },
    auto_act: {
      label: "Act on sentinel's reports",
      hint: "If off, it only names the command for it.",
    },
    mute_duration_sec: { label: "A mute lasts (seconds)" },
    silence_low_warnings: { label: "Give no warning for a low report" },
    cooldown_sec: {
      label: "Pause between actions (seconds)",
      hint: "Against one account, unless it gets worse.",
    },
  },
  systembot: { enabled: ENABLED },
  warden: {
    enabled: ENABLED,
    messages_per_second: {
      label: "Lines per second",
      hint: "Of one account, in all channels together. 0: no limit.",
    },
    burst: {
      label: "Lines at once",
      hint: `${AT_ONCE} After as many refused lines, the account is muted.`,
    },
    cooldown_sec: { label: "A mute lasts (seconds)" },
  },
};

/** What the form says of a field; for one that is not known, its name in words. */
export function wordsOf(bot: string, name: string): FieldWords {
  const fields: Readonly<Record<string, FieldWords>> = Object.hasOwn(WORDS, bot)
    ? WORDS[bot as KnownBot]
    : {};
  return fields[name] ?? { label: name.replaceAll("_", " ") };
}
