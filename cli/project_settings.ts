/** The options of `muster project change` for settings that a project may have for itself. */
import { CommandFailed } from "./output.ts";

/** Numbers, or `default` for the server's. */
export interface SettingOptions {
  readonly claimSeconds?: string;
  readonly strikes?: string;
  readonly landingDepth?: string;
  readonly landingTimeout?: string;
}

export const SETTING_OPTIONS = [
  { flags: "--claim-seconds <n>", summary: 'how long a claim lasts; "default" for the server\'s' },
  { flags: "--strikes <n>", summary: "failed claims until a ticket waits for a person, likewise" },
  { flags: "--landing-depth <n>", summary: "landings that are tested at the same time, likewise" },
  { flags: "--landing-timeout <seconds>", summary: "time limit of a landing's checks, likewise" },
];

/** The part of the request that changes a project's own settings. */
export function settingsChange(options: SettingOptions) {
  const depth = settingOf("--landing-depth", options.landingDepth);
  const timeout_seconds = settingOf("--landing-timeout", options.landingTimeout);
  const landing = depth === undefined && timeout_seconds === undefined
    ? undefined
    : { depth, timeout_seconds };
  return {
    claim_seconds: settingOf("--claim-seconds", options.claimSeconds),
    strikes: settingOf("--strikes", options.strikes),
    landing,
  };
}

function settingOf(flag: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === "default") return null;
  if (!/^\d{1,9}$/.test(text)) {
    throw new CommandFailed(`${flag} takes a number, or "default" for the server's`, 2);
  }
  return Number(text);
}

/** How `muster project show` shows a setting. */
export function shownSetting(value: number | null): string {
  return value === null ? "default" : `${value}`;
}
