/** `muster project move` and `restore`: on which of several nodes a project is. */
import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Command } from "./command_line/mod.ts";
import { type CommandOptions, URL_OPTION } from "./options.ts";
import { CommandFailed, print } from "./output.ts";
import { pathOf, projectSchema, SLUG } from "./project_calls.ts";

/** A large repository takes its time; in milliseconds. */
const MOVE_TIMEOUT = 60 * 60 * 1000;

interface RestoreOptions extends CommandOptions {
  readonly from?: string;
  readonly on?: string;
}

/** `muster project move`. */
async function moveProject(slug: string, node: string, options: CommandOptions): Promise<void> {
  await move(await ApiClient.connect(options), slug, node);
}

async function move(client: ApiClient, slug: string, node: string): Promise<void> {
  await client.call("POST", `${pathOf(slug)}/move`, projectSchema, { node }, MOVE_TIMEOUT);
  print(`The project "${slug}" is on the node "${node}"`);
}

/**
 * Moves all projects of a node, one after the other, each to the node that has the fewest then.
 *
 * @param targets the nodes that may get them, with the number of their projects
 * @throws CommandFailed if there is no such node, or a project cannot be moved
 */
export async function moveAway(
  client: ApiClient,
  from: string,
  targets: ReadonlyMap<string, number>,
): Promise<void> {
  const projects = await client.call("GET", "/v1/projects", z.array(projectSchema));
  const counts = new Map(targets);
  for (const { slug } of projects.filter(({ node }) => node === from)) {
    const [fewest] = [...counts].sort(([, one], [, other]) => one - other);
    if (fewest === undefined) throw new CommandFailed("No other node takes projects");
    const [node, count] = fewest;
    await move(client, slug, node);
    counts.set(node, count + 1);
  }
}

/** `muster project restore`. */
async function restoreProject(slug: string, options: RestoreOptions): Promise<void> {
  const { from, on } = options;
  if (from === undefined || on === undefined) {
    throw new CommandFailed("Name the backup with --from and the node with --on", 2);
  }
  const file = await Deno.open(from).catch(() => {
    throw new CommandFailed(`The file ${from} cannot be read`);
  });
  const client = await ApiClient.connect(options);
  const path = `${pathOf(slug)}/restore?node=${encodeURIComponent(on)}`;
  const text = (await Array.fromAsync(client.upload(path, file.readable))).join("");
  projectSchema.parse(JSON.parse(text));
  print(`The project "${slug}" is on the node "${on}"`);
}

/** `muster project move`. */
export const MOVE: Command = {
  name: "move",
  summary: "move a project to another node, while it is used",
  parameters: [SLUG, { usage: "<node>" }],
  options: [URL_OPTION],
  notes: ["Writes to the project wait for the moment of the change, at most seconds."],
  run: moveProject,
};

/** `muster project restore`. */
export const RESTORE: Command = {
  name: "restore",
  summary: "restore a project on a node from a backup, if its own node does not run",
  parameters: [SLUG],
  options: [
    {
      flags: "--from <file>",
      summary: "the repository file, such as an export",
      completes: "file",
    },
    { flags: "--on <node>", summary: "the node to restore it on" },
    URL_OPTION,
  ],
  notes: [
    "What was written after the backup is lost. When the old node starts again, it sets its copy " +
    "aside in the folder removed beside its repositories.",
  ],
  run: restoreProject,
};
