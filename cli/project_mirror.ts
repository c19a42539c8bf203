/** `muster project mirror`: a project pulls from an upstream, and is pushed to a Git remote. */
import { amount } from "../services/kernel/words.ts";
import { z } from "zod";
import { ApiClient, Refused } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { checkCount, type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { CommandFailed, printFields, printJson } from "./output.ts";
import { readPassword } from "./passwords.ts";
import { pathOf, SLUG } from "./project_calls.ts";

interface SetOptions extends CommandOptions {
  readonly user?: string;
  readonly passwordStdin?: boolean;
  readonly every?: number;
  readonly from?: string;
  readonly fromGit?: string;
}

const remoteSchema = z.object({
  url: z.string(),
  username: z.string().nullable(),
  has_password: z.boolean(),
});
const mirrorSchema = z.looseObject({
  git: remoteSchema.nullable(),
  fossil: remoteSchema.nullable(),
  pull: z.object({ git: remoteSchema }).nullable(),
  every_minutes: z.number(),
  running: z.boolean(),
  next_run_at: z.string(),
  last_run_at: z.string().nullable(),
  last_success_at: z.string().nullable(),
  last_error: z.string().nullable(),
});

/** `muster project mirror set`: sets one remote; others stay, but for another upstream. */
async function setMirror(
  slug: string,
  remote: string | undefined,
  { user: username, passwordStdin, every, from, fromGit, ...options }: SetOptions,
): Promise<void> {
  const [url, ...others] = [from, fromGit, remote].filter((one) => one !== undefined);
  if (url === undefined || others.length > 0) {
    throw new CommandFailed("Give a Git remote, or --from-git or --from with a URL", 2);
  }
  const client = await ApiClient.connect(options);
  const password = passwordStdin === true ? await readPassword() : undefined;
  const before = await findMirror(client, slug);
  const given = { url, username, password };
  const kept = keptRemote(before?.pull?.git);
  const upstream = from !== undefined
    ? { fossil: given }
    : fromGit !== undefined
    ? { pull: { git: given } }
    : { fossil: keptRemote(before?.fossil), ...kept === undefined ? {} : { pull: { git: kept } } };
  const git = remote === undefined ? keptRemote(before?.git) : given;
  const body = { git, ...upstream, every_minutes: every ?? before?.every_minutes };
  await client.call("PUT", mirrorOf(slug), mirrorSchema, body);
}

/** The mirror of a project; null if it has none. */
async function findMirror(
  client: ApiClient,
  slug: string,
): Promise<z.infer<typeof mirrorSchema> | null> {
  try {
    return await client.call("GET", mirrorOf(slug), mirrorSchema);
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}

/** A remote that stays as it is, with its stored password. */
function keptRemote(remote: z.infer<typeof remoteSchema> | null | undefined) {
  if (remote === null || remote === undefined) return undefined;
  return { url: remote.url, username: remote.username ?? undefined };
}

/** `muster project mirror show`. */
async function showMirror(slug: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const mirror = await client.call("GET", mirrorOf(slug), mirrorSchema);
  if (options.json === true) return printJson(mirror);
  printFields([
    ...fieldsOf("pulls from", mirror.fossil ?? mirror.pull?.git ?? null),
    ...fieldsOf("pushes to", mirror.git),
    ["every", amount(mirror.every_minutes, "minute")],
    ["last run", mirror.last_run_at ?? "never"],
    ["last success", mirror.last_success_at ?? "never"],
    ["last error", mirror.last_error ?? ""],
    ["next run", mirror.running ? "running" : mirror.next_run_at],
  ]);
}

function fieldsOf(
  name: string,
  remote: z.infer<typeof remoteSchema> | null,
): (readonly [string, string])[] {
  if (remote === null) return [];
  return [
    [name, remote.url],
    ["user", remote.username ?? ""],
    ["password", remote.has_password ? "stored" : "none"],
  ];
}

function mirrorOf(slug: string): string {
  return `${pathOf(slug)}/mirror`;
}

/** `muster project mirror`. */
export const MIRROR: Group = {
  commands: [
    {
      name: "set",
      summary: "push to a Git remote, or pull from Git or Fossil; at once and on a schedule",
      parameters: [SLUG, { usage: "[remote]" }],
      options: [
        {
          flags: "--from <url>",
          summary: "pull from this Fossil repository, instead of a Git remote to push to",
        },
        { flags: "--from-git <url>", summary: "follow this Git repository" },
        { flags: "--user <name>", summary: "the user on the remote" },
        { flags: "--password-stdin", summary: "read the password or token from standard input" },
        {
          flags: "--every <minutes>",
          summary: "minutes between two runs, 5 to 10080 (default: 60)",
          parse: checkCount,
        },
        URL_OPTION,
      ],
      run: setMirror,
    },
    {
      name: "show",
      summary: "show the remotes, and how the last run ended",
      parameters: [SLUG],
      options: [JSON_OPTION, URL_OPTION],
      run: showMirror,
    },
  ],
  examples: [
    {
      line: "project mirror set website https://git.example/team/website.git --user bot " +
        "--password-stdin < token",
      purpose: "Keep a copy on a Git server",
    },
    {
      line: "project mirror set website --from https://fossil.example/website",
      purpose: "Pull from a Fossil repository every hour",
    },
    {
      line: "project mirror set website --from-git https://git.example/team/website.git",
      purpose: "Follow a Git repository",
    },
  ],
};
