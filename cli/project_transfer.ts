/** `muster project import` and `export`: repositories as files and streams. */
import { amount } from "../services/kernel/words.ts";
import { z } from "zod";
import { ApiClient, Refused } from "./client.ts";
import type { Command } from "./command_line/mod.ts";
import { TerminalProgress } from "./fossil/progress.ts";
import { CommandFailed, print, printBytes, printJson, printNotices, reportDone } from "./output.ts";
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
  format: z.string(),
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

/** `muster project import`: fills a project; makes it if there is none. */
async function importProject(
  slug: string,
  file: string | undefined,
  options: ProjectOptions,
): Promise<void> {
  const source = await openSource(file);
  const client = await ApiClient.connect(options);
  const isNew = await createIfAbsent(client, slug, options);
  const imported = await fill(client, slug, source, isNew);
  reportDone(() => {
    if (options.json === true) return printJson({ project: slug, ...imported });
    print(`${amount(imported.checkins, "check-in")} in "${slug}"`);
    if (imported.notices !== undefined) printNotices(imported.notices);
  });
}

/** The server read the source, and refused it. */
class ImportRefused extends CommandFailed {}

/** Fills a project; removes one that was made for it only if nothing was stored, for certain. */
async function fill(
  client: ApiClient,
  slug: string,
  source: ReadableStream<Uint8Array>,
  isNew: boolean,
): Promise<z.infer<typeof importSchema>> {
  using progress = new TerminalProgress();
  try {
    return await upload(client, slug, source, progress);
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
): Promise<z.infer<typeof importSchema>> {
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
  summary: "fill a project from a Fossil repository file or a stream of git fast-export",
  parameters: [SLUG, { usage: "[file]", completes: "file" }],
  options: [NAME_OPTION, DESCRIPTION_OPTION, VISIBILITY_OPTION, JSON_OPTION, URL_OPTION],
  notes: [
    "Without a file, or with -, reads standard input. Makes the project if there is none; " +
    "refuses one that is not empty.",
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
