import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { CommandFailed, printFields, printJson } from "./output.ts";
import {
  DESCRIPTION_OPTION,
  memberSchema,
  NAME_OPTION,
  pathOf,
  type ProjectOptions,
  projectSchema,
  SLUG,
  VISIBILITY_OPTION,
} from "./project_calls.ts";
import { MIRROR } from "./project_mirror.ts";
import { MOVE, RESTORE } from "./project_nodes.ts";
import { EXPORT, IMPORT } from "./project_transfer.ts";

/** `muster project show`: a project and its members. */
async function showProject(slug: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const project = await client.call("GET", pathOf(slug), projectSchema);
  const members = await client.call("GET", `${pathOf(slug)}/members`, z.array(memberSchema));
  if (options.json === true) return printJson({ ...project, members });
  printFields([
    ["name", project.name],
    ["description", project.description],
    ["visibility", project.visibility],
    ...(project.node === undefined ? [] : [["node", project.node] as const]),
    ["git", `${client.url}/projects/${slug}.git`],
    ["fossil", `${client.url}/projects/${slug}/fossil`],
    ["channel", project.channel],
    ["stars", `${project.star_count}`],
    ["created", project.created_at],
    ["archived", project.archived ? "yes" : "no"],
    ["claim seconds", shownSetting(project.claim_seconds)],
    ["strikes", shownSetting(project.strikes)],
    ["landing depth", shownSetting(project.landing.depth)],
    ["landing timeout", shownSetting(project.landing.timeout_seconds)],
    ["members", members.map(({ name, role }) => `${name} (${role})`).join(", ")],
  ]);
}

/** `muster project change`. */
async function changeProject(
  slug: string,
  options: ProjectOptions & SettingOptions,
): Promise<void> {
  const { name, description, visibility, channel } = options;
  const change = { name, description, visibility, channel, ...settingsChange(options) };
  if (Object.values(change).every((value) => value === undefined)) {
    throw new CommandFailed("There is nothing to change: give at least one option", 2);
  }
  const client = await ApiClient.connect(options);
  await client.call("PATCH", pathOf(slug), projectSchema, change);
}

/** The options of `muster project change` for settings that a project may have for itself. */

/** Numbers, or `default` for the server's. */
interface SettingOptions {
  readonly claimSeconds?: string;
  readonly strikes?: string;
  readonly landingDepth?: string;
  readonly landingTimeout?: string;
}

const SETTING_OPTIONS = [
  { flags: "--claim-seconds <n>", summary: 'how long a claim lasts; "default" for the server\'s' },
  { flags: "--strikes <n>", summary: "failed claims until a ticket waits for a person, likewise" },
  { flags: "--landing-depth <n>", summary: "landings that are tested at the same time, likewise" },
  { flags: "--landing-timeout <seconds>", summary: "time limit of a landing's checks, likewise" },
];

/** The part of the request that changes a project's own settings. */
function settingsChange(options: SettingOptions) {
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
function shownSetting(value: number | null): string {
  return value === null ? "default" : `${value}`;
}

/** `muster project`: projects, whose repositories the server hosts. */
export const PROJECT: Group = {
  commands: [
    {
      name: "show",
      summary: "show a project and its members",
      parameters: [SLUG],
      options: [JSON_OPTION, URL_OPTION],
      run: showProject,
    },
    {
      name: "change",
      summary: "change a project's description and settings",
      parameters: [SLUG],
      options: [
        NAME_OPTION,
        DESCRIPTION_OPTION,
        { ...VISIBILITY_OPTION, summary: "who may read it" },
        { flags: "--channel <channel>", summary: "the channel of its events; empty for none" },
        ...SETTING_OPTIONS,
        URL_OPTION,
      ],
      run: changeProject,
    },
    IMPORT,
    EXPORT,
    MOVE,
    RESTORE,
    { name: "member", summary: "members of projects, and their roles", commands: [] },
    {
      name: "mirror",
      summary: "pull a project from Git or Fossil, and push it to a Git remote",
      ...MIRROR,
    },
    { name: "webhook", summary: "webhooks of projects, and what they sent", commands: [] },
  ],
  examples: [
    {
      line: "project import website - --visibility internal < stream",
      purpose: "Make a project from a stream of git fast-export",
    },
    {
      line: "project import website https://git.example/team/website.git",
      purpose: "Make one from a Git repository elsewhere",
    },
    { line: "project import tool tool.fossil", purpose: "Make one from a Fossil file" },
    { line: "project export website website.fossil", purpose: "Save the repository to a file" },
  ],
};
