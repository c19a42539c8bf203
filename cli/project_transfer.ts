/** `muster project import` and `export`: repositories from elsewhere, and as files and streams. */
import { amount } from "../services/kernel/words.ts";
import { z } from "zod";
import { ApiClient, Refused } from "./client.ts";
import type { Command } from "./command_line/mod.ts";
import { TerminalProgress } from "./fossil/progress.ts";
import { CommandFailed, print, printBytes, printJson, printNotices, reportDone } from "./output.ts";
import { readPassword } from "./passwords.ts";
import { importFromServer, ImportRefused, isUrl } from "./project_import.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import {
  bodyOf,
  DESCRIPTION_OPTION,
  NAME_OPTION,
  pathOf,
  type ProjectOptions,
  projectSchema,
  SLUG,
  VISIBILITY_OPTION,
} from "./project_calls.ts";

const importSchema = z.object({
  /** Of a file. */
  format: z.string().optional(),
  checkins: z.number(),
  notices: z.object({
    counts: z.record(z.string(), z.number()),
    first: z.array(z.object({ kind: z.string(), subject: z.string(), message: z.string() })),
  }).optional(),
});

const importLineSchema = z.union([
  z.object({ done: z.number(), total: z.number().nullable() }),
  importSchema,
  z.object({ error: z.string() }),
]);

interface ExportOptions extends CommandOptions {
  readonly git?: boolean;
}

interface ImportOptions extends ProjectOptions {
  readonly user?: string;
  readonly passwordStdin?: boolean;
}

/** `muster project import`: fills a project; makes it if there is none. */
async function importProject(
  slug: string,
  source: string | undefined,
  options: ImportOptions,
): Promise<void> {
  const work = isUrl(source)
    ? await fromServer(slug, source, options)
    : await fromFile(slug, source);
  const client = await ApiClient.connect(options);
  const isNew = await createIfAbsent(client, slug, options);
  const imported = await fill(client, slug, { work, isNew });
  reportDone(() => {
    if (options.json === true) return printJson({ project: slug, ...imported });
    print(`${amount(imported.checkins, "check-in")} in "${slug}"`);
    if (imported.notices !== undefined) printNotices(imported.notices);
  });
}

/** Fills a project by way of a client. */
type Fill = (client: ApiClient) => Promise<Imported>;
type Imported = z.infer<typeof importSchema>;

/** @throws CommandFailed if standard input has no password */
async function fromServer(
  slug: string,
  url: string,
  { user: username, passwordStdin }: ImportOptions,
): Promise<Fill> {
  const password = passwordStdin === true ? await readPassword() : undefined;
  return async (client) => {
    const { checkins, notices } = await importFromServer(client, slug, { url, username, password });
    return { checkins: checkins ?? 0, ...notices === null ? {} : { notices } };
  };
}

/** @throws CommandFailed if there is no file that can be read */
async function fromFile(slug: string, file: string | undefined): Promise<Fill> {
  const source = await openSource(file);
  return async (client) => {
    using progress = new TerminalProgress();
    return await upload(client, slug, source, progress);
  };
}

/** Fills a project; removes one that was made for it only if nothing was stored, for certain. */
async function fill(
  client: ApiClient,
  slug: string,
  { work, isNew }: { readonly work: Fill; readonly isNew: boolean },
): Promise<Imported> {
  try {
    return await work(client);
  } catch (error) {
    const isRefused = error instanceof ImportRefused ||
      (error instanceof Refused && error.status < 500);
    if (isNew && isRefused) {
      await client.call("DELETE", pathOf(slug), z.undefined()).catch(() => {});
    }
    throw error;
  }
}

async function openSource(file: string | undefined): Promise<ReadableStream<Uint8Array>> {
  if (file === undefined || file === "-") {
    if (Deno.stdin.isTerminal()) {
      throw new CommandFailed("Name a file, or send one on standard input", 2);
    }
    return Deno.stdin.readable;
  }
  try {
    return (await Deno.open(file)).readable;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new CommandFailed(`There is no file ${file}`);
    throw new CommandFailed(`The file ${file} cannot be read`);
  }
}

/** @returns whether it made the project */
async function createIfAbsent(
  client: ApiClient,
  slug: string,
  options: ProjectOptions,
): Promise<boolean> {
  try {
    await client.call("GET", pathOf(slug), projectSchema);
    return false;
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
  }
  await client.call("POST", "/v1/projects", projectSchema, bodyOf(slug, options));
  return true;
}

async function upload(
  client: ApiClient,
  slug: string,
  source: ReadableStream<Uint8Array>,
  progress: TerminalProgress,
): Promise<Imported> {
  let sent = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      sent += part.length;
      progress.show("Bytes sent:", sent, null);
      controller.enqueue(part);
    },
  });
  const lines = client.upload(`${pathOf(slug)}/repository`, source.pipeThrough(counting));
  for await (const text of lines) {
    const line = importLineSchema.parse(JSON.parse(text));
    if ("error" in line) throw new ImportRefused(line.error);
    if ("checkins" in line) return line;
    progress.show("Commits or artifacts read:", line.done, line.total);
  }
  throw new CommandFailed(
    "The server ended its answer too early: check whether the import succeeded",
  );
}

/** `muster project export`: writes a project's repository to a file, or to standard output. */
async function exportProject(
  slug: string,
  file: string | undefined,
  options: ExportOptions,
): Promise<void> {
  const toOutput = file === undefined || file === "-";
  if (toOutput && Deno.stdout.isTerminal()) {
    throw new CommandFailed("Name a file, or send standard output to one", 2);
  }
  const client = await ApiClient.connect(options);
  const format = options.git === true ? "git" : "fossil";
  using progress = new TerminalProgress();
  const { body, bytes } = await client.download(`${pathOf(slug)}/repository?format=${format}`);
  let received = 0;
  const count = (part: Uint8Array) => {
    received += part.length;
    progress.show("Bytes received:", received, bytes);
  };
  const isWhole = () => bytes === null || received === bytes;
  if (!toOutput) return await writeFile(file, body, { count, isWhole });
  for await (const part of body) {
    count(part);
    printBytes(part);
  }
  if (!isWhole()) throw new CommandFailed(CUT_SHORT);
}

const CUT_SHORT = "The server ended its answer too early: the export is not complete";

/** Writes a new file, and removes it if it does not become whole. */
async function writeFile(
  path: string,
  body: ReadableStream<Uint8Array>,
  { count, isWhole }: { count(part: Uint8Array): void; isWhole(): boolean },
): Promise<void> {
  using file = await createFile(path);
  try {
    for await (const part of body) {
      count(part);
      for (let written = 0; written < part.length;) {
        written += await file.write(part.subarray(written));
      }
    }
    if (isWhole()) return;
    throw new CommandFailed(CUT_SHORT);
  } catch (error) {
    await Deno.remove(path);
    throw error;
  }
}

async function createFile(path: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path, { write: true, createNew: true });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new CommandFailed(`The file ${path} already exists`);
    }
    throw new CommandFailed(`The file ${path} cannot be written`);
  }
}

/** `muster project import`. */
export const IMPORT: Command = {
  name: "import",
  summary:
    "fill a project from a URL of Git or Fossil, a Fossil file or a stream of git fast-export",
  parameters: [SLUG, { usage: "[url-or-file]", completes: "file" }],
  options: [
    { flags: "--user <name>", summary: "the user at the URL" },
    { flags: "--password-stdin", summary: "read the password or token from standard input" },
    NAME_OPTION,
    DESCRIPTION_OPTION,
    VISIBILITY_OPTION,
    JSON_OPTION,
    URL_OPTION,
  ],
  notes: [
    "The server asks a URL itself, and Ctrl-C cancels that. Without a file, or with -, reads " +
    "standard input. Makes the project if there is none; refuses one that is not empty.",
    "In a Git repository, send the output of git for-each-ref --format='%(refname)' refs/heads " +
    "refs/tags | git fast-export --stdin --mark-tags --use-done-feature --signed-tags=verbatim " +
    "--reencode=no. With --branches --tags in place of the list, git leaves out where a branch " +
    "and a tag of one name end.",
    "Reads, verifies and copies every artifact. Users, triggers, views, most settings and private " +
    "artifacts of a Fossil file are not copied.",
  ],
  run: importProject,
};

/** `muster project export`. */
export const EXPORT: Command = {
  name: "export",
  summary: "write a project's repository to a file",
  parameters: [SLUG, { usage: "[file]", completes: "file" }],
  options: [
    { flags: "--git", summary: "write a stream for git fast-import" },
    URL_OPTION,
  ],
  notes: ["Without a file, or with -, writes to standard output."],
  run: exportProject,
};
