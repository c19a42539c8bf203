import { z } from "zod";
import { ApiClient, Refused } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { TerminalProgress } from "./fossil/progress.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import {
  CommandFailed,
  counted,
  print,
  printBytes,
  printFields,
  printJson,
  table,
} from "./output.ts";

const projectSchema = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  visibility: z.string(),
  star_count: z.number(),
  channel: z.string(),
  created_at: z.string(),
  archived: z.boolean(),
});

const memberSchema = z.object({ name: z.string(), kind: z.string(), role: z.string() });

const importLineSchema = z.union([
  z.object({ done: z.number(), total: z.number().nullable() }),
  z.object({ format: z.string(), checkins: z.number() }),
  z.object({ error: z.string() }),
]);

interface ProjectOptions extends CommandOptions {
  readonly name?: string;
  readonly description?: string;
  readonly visibility?: string;
  readonly channel?: string;
}

interface ExportOptions extends CommandOptions {
  readonly git?: boolean;
}

/** `muster project create`. */
async function createProject(slug: string, options: ProjectOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const project = await client.call("POST", "/v1/projects", projectSchema, bodyOf(slug, options));
  if (options.json === true) return printJson(project);
  print(`The project "${project.slug}" is ${project.visibility}`);
}

/** `muster project list`. */
async function listProjects(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const projects = await client.call("GET", "/v1/projects", z.array(projectSchema));
  if (options.json === true) return printJson(projects);
  const rows = projects.map(({ slug, name, visibility, star_count, archived }) => [
    slug,
    archived ? `${visibility}, archived` : visibility,
    `${star_count}`,
    name,
  ]);
  print(table(["PROJECT", "VISIBILITY", "STARS", "NAME"], rows));
}

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
    ["channel", project.channel],
    ["stars", `${project.star_count}`],
    ["created", project.created_at],
    ["archived", project.archived ? "yes" : "no"],
    ["members", members.map(({ name, role }) => `${name} (${role})`).join(", ")],
  ]);
}

/** `muster project change`. */
async function changeProject(slug: string, options: ProjectOptions): Promise<void> {
  const { name, description, visibility, channel } = options;
  const change = { name, description, visibility, channel };
  if (Object.values(change).every((value) => value === undefined)) {
    throw new CommandFailed("There is nothing to change; name what is to be different", 2);
  }
  const client = await ApiClient.connect(options);
  await client.call("PATCH", pathOf(slug), projectSchema, change);
}

/** `muster project archive` and `unarchive`. */
async function setArchived(slug: string, archived: boolean, options: CommandOptions) {
  const client = await ApiClient.connect(options);
  await client.call("PATCH", pathOf(slug), projectSchema, { archived });
}

/** `muster project remove`. */
async function removeProject(slug: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", pathOf(slug), z.undefined());
}

/** `muster project import`: fills a project, which is made where there is none. */
async function importProject(
  slug: string,
  file: string | undefined,
  options: ProjectOptions,
): Promise<void> {
  const source = await openSource(file);
  const client = await ApiClient.connect(options);
  const isNew = await createIfAbsent(client, slug, options);
  using progress = new TerminalProgress();
  try {
    const { format, checkins } = await upload(client, slug, source, progress);
    progress[Symbol.dispose]();
    if (options.json === true) return printJson({ project: slug, format, checkins });
    print(`${counted(checkins, "check-in")} in "${slug}"`);
  } catch (error) {
    progress[Symbol.dispose]();
    if (isNew) await client.call("DELETE", pathOf(slug), z.undefined()).catch(() => {});
    throw error;
  }
}

async function openSource(file: string | undefined): Promise<ReadableStream<Uint8Array>> {
  if (file === undefined || file === "-") {
    if (Deno.stdin.isTerminal()) {
      throw new CommandFailed("Name a file, or send a stream of git fast-export", 2);
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

/** @returns whether the project was made */
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
): Promise<{ format: string; checkins: number }> {
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
    if ("error" in line) throw new CommandFailed(line.error);
    if ("checkins" in line) return line;
    progress.show("Commits or artifacts read:", line.done, line.total);
  }
  throw new CommandFailed(
    "The server ended its answer too early; ask it what became of the import",
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
  if (toOutput) {
    for await (const part of body) {
      count(part);
      printBytes(part);
    }
  } else await writeFile(file, body, count);
  progress[Symbol.dispose]();
  if (bytes !== null && received !== bytes) {
    throw new CommandFailed("The server ended its answer too early: the export is not complete");
  }
}

async function writeFile(
  path: string,
  body: ReadableStream<Uint8Array>,
  count: (part: Uint8Array) => void,
): Promise<void> {
  using file = await createFile(path);
  for await (const part of body) {
    count(part);
    for (let written = 0; written < part.length;) {
      written += await file.write(part.subarray(written));
    }
  }
}

async function createFile(path: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path, { write: true, createNew: true });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new CommandFailed(`The file ${path} exists already`);
    }
    throw new CommandFailed(`The file ${path} cannot be written`);
  }
}

/** `muster project member add`. */
async function addMember(slug: string, name: string, role: string, options: CommandOptions) {
  const client = await ApiClient.connect(options);
  const path = `${pathOf(slug)}/members/${encodeURIComponent(name)}`;
  await client.call("PUT", path, memberSchema, { role });
}

/** `muster project member list`. */
async function listMembers(slug: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const members = await client.call("GET", `${pathOf(slug)}/members`, z.array(memberSchema));
  if (options.json === true) return printJson(members);
  const rows = members.map(({ name, kind, role }) => [name, kind, role]);
  print(table(["NAME", "KIND", "ROLE"], rows));
}

/** `muster project member remove`. */
async function removeMember(slug: string, name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `${pathOf(slug)}/members/${encodeURIComponent(name)}`;
  await client.call("DELETE", path, z.undefined());
}

function bodyOf(slug: string, { name, description, visibility }: ProjectOptions) {
  return { slug, name, description, visibility };
}

function pathOf(slug: string): string {
  return `/v1/projects/${encodeURIComponent(slug)}`;
}

const SLUG = { usage: "<project>" };
const NAME_OPTION = { flags: "--name <name>", summary: "its name for people" };
const DESCRIPTION_OPTION = { flags: "--description <text>", summary: "what it is" };
const VISIBILITY_OPTION = {
  flags: "--visibility <who>",
  summary: "who may read it (default: private, its members)",
  choices: ["public", "internal", "private"],
};

const MEMBER: Group = {
  commands: [
    {
      name: "add",
      aliases: ["set"],
      summary: "give an account a role in a project",
      parameters: [SLUG, { usage: "<account>" }, {
        usage: "<role>",
        choices: ["read", "write", "admin"],
      }],
      options: [URL_OPTION],
      run: addMember,
    },
    {
      name: "list",
      summary: "list a project's members",
      parameters: [SLUG],
      options: [JSON_OPTION, URL_OPTION],
      run: listMembers,
    },
    {
      name: "remove",
      aliases: ["delete"],
      summary: "take an account's role in a project",
      parameters: [SLUG, { usage: "<account>" }],
      options: [URL_OPTION],
      run: removeMember,
    },
  ],
};

/** `muster project`: projects, whose repositories the server hosts. */
export const PROJECT: Group = {
  commands: [
    {
      name: "create",
      aliases: ["add"],
      summary: "make a project with an empty repository",
      parameters: [SLUG],
      options: [NAME_OPTION, DESCRIPTION_OPTION, VISIBILITY_OPTION, JSON_OPTION, URL_OPTION],
      run: createProject,
    },
    {
      name: "list",
      summary: "list the projects",
      options: [JSON_OPTION, URL_OPTION],
      run: listProjects,
    },
    {
      name: "show",
      summary: "show a project and its members",
      parameters: [SLUG],
      options: [JSON_OPTION, URL_OPTION],
      run: showProject,
    },
    {
      name: "change",
      summary: "change what a project says of itself",
      parameters: [SLUG],
      options: [
        NAME_OPTION,
        DESCRIPTION_OPTION,
        { ...VISIBILITY_OPTION, summary: "who may read it" },
        { flags: "--channel <channel>", summary: "the channel of its events; empty for none" },
        URL_OPTION,
      ],
      run: changeProject,
    },
    {
      name: "archive",
      summary: "make a project read-only",
      parameters: [SLUG],
      options: [URL_OPTION],
      run: (slug: string, options: CommandOptions) => setArchived(slug, true, options),
    },
    {
      name: "unarchive",
      summary: "let an archived project be changed again",
      parameters: [SLUG],
      options: [URL_OPTION],
      run: (slug: string, options: CommandOptions) => setArchived(slug, false, options),
    },
    {
      name: "remove",
      aliases: ["delete"],
      summary: "remove a project; the server keeps its repository file aside",
      parameters: [SLUG],
      options: [URL_OPTION],
      run: removeProject,
    },
    {
      name: "import",
      summary: "fill a project from a repository file of Fossil or a stream of git fast-export",
      parameters: [SLUG, { usage: "[file]", completes: "file" }],
      options: [NAME_OPTION, DESCRIPTION_OPTION, VISIBILITY_OPTION, JSON_OPTION, URL_OPTION],
      notes: [
        "Without a file, or with -, it reads standard input. It makes the project if there is none. " +
        "A project that has check-ins is refused.",
        "Every artifact is read, verified and copied. Users, triggers, views and most settings of a " +
        "Fossil file stay behind.",
      ],
      run: importProject,
    },
    {
      name: "export",
      summary: "write a project's repository to a file",
      parameters: [SLUG, { usage: "[file]", completes: "file" }],
      options: [
        { flags: "--git", summary: "write a stream for git fast-import" },
        URL_OPTION,
      ],
      notes: ["Without a file, or with -, it writes to standard output."],
      run: exportProject,
    },
    { name: "member", summary: "members of projects, and their roles", ...MEMBER },
  ],
  examples: [
    {
      line: "project import website - --visibility internal < stream",
      purpose: "Make a project of what `git fast-export --all > stream` wrote",
    },
    { line: "project import tool tool.fossil", purpose: "Make one of a Fossil file" },
    { line: "project member add website scout write", purpose: "Let scout commit" },
    { line: "project export website website.fossil", purpose: "Take the repository away" },
  ],
};
