import { z } from "zod";
import { getFile } from "../../services/work/code/operations.ts";
import { Invalid, NotFound } from "../../services/kernel/errors.ts";
import { TEXT_BOUNDS, TextMap } from "../../services/engines/fossil/front/mod.ts";
import { KEEPS_EMPTY } from "../lenient_arguments.ts";
import { HASH_DIGITS } from "../short_values.ts";
import { textOf } from "../text_files.ts";
import { nextTurn } from "../../services/kernel/pieces.ts";
import { commitToWorkspace, getWorkspace } from "../../services/work/workspaces/operations.ts";
import { committedSchema } from "../../services/work/workspaces/schemas.ts";
import { applyHunks, type FilePatch, parsePatch } from "./patch.ts";
import { occurrencesOf } from "./places.ts";
import type { ToolCall } from "../tool_call.ts";
import { type Tool, tool } from "../tool.ts";
import { generationShape } from "./ticket_tools.ts";

/** A change of a file as the repository API takes it. */
type Change = z.output<typeof changeSchema>;

const filePath = z.string().min(1).max(1000);

const changeSchema = z.strictObject({
  path: filePath,
  content: z.string().optional().meta(KEEPS_EMPTY),
  content_base64: z.string().optional().describe("Of a binary file"),
  delete: z.boolean().optional(),
  rename_to: filePath.optional(),
  executable: z.boolean().optional(),
}).overwrite(({ content, ...change }) => {
  // An empty text is the content of an empty file, unless the change says what else it does.
  const { content_base64, delete: isDeleted, rename_to } = change;
  const isIdle = content === "" &&
    (content_base64 !== undefined || isDeleted === true || rename_to !== undefined);
  return content === undefined || isIdle ? change : { ...change, content };
});

/** Files to write, delete or rename. */
export const changeShape = {
  changes: z.array(changeSchema).max(1000).default([])
    .describe("Files to write, delete or rename"),
};

const editSchema = z.strictObject({
  path: filePath,
  old_text: z.string().min(1).describe("Occurs exactly once in the file"),
  new_text: z.string(),
});

const commitFiles = tool({
  name: "commit_files",
  description:
    "Commits changes of files to your workspace, as one check-in: whole files (changes), " +
    "replacements (edits), or a unified diff (patch). Diffs and edits apply exactly or not " +
    "at all. Then submit_work or create_review. With many files, binaries or renames, git " +
    "push from a checkout costs less.",
  does: commitToWorkspace,
  input: {
    workspace: z.string().min(1).describe("Your workspace; start_work makes one"),
    message: z.string().min(1).max(TEXT_BOUNDS.comment).describe("What the commit does and why"),
    ...changeShape,
    edits: z.array(editSchema).max(1000).default([])
      .describe("Replacements in text files, in this order"),
    patch: z.string().optional()
      .describe(
        "A unified diff against the tip of the workspace",
      ),
    parent: z.string().optional()
      .describe("The tip that you know: fails if there is a newer one"),
    ...generationShape,
  },
  output: {
    workspace: z.string(),
    branch: committedSchema.shape.branch,
    uuid: committedSchema.shape.uuid,
    parent: committedSchema.shape.parent,
    commits_made: committedSchema.shape.commits_made,
    files: z.array(z.string()).describe("The changed files"),
    moved: z.array(z.string()).describe("Hunks that applied at another line than the patch says"),
  },
  advice: {
    notFound: "list_workspaces shows your workspaces, and start_work makes one",
    conflict: "Read the files again at the new tip, and repeat the call",
    forbidden: "start_work makes one of your own",
  },
  async run({ workspace, message, changes, edits, patch, parent, generation }, project) {
    if (changes.length === 0 && edits.length === 0 && patch === undefined) {
      throw new Invalid('Nothing to commit: give "changes", "edits" or "patch"');
    }
    const isWhole = edits.length === 0 && patch === undefined;
    const tip = isWhole ? parent : await tipOf(project, workspace, parent);
    const draft = new Draft(project, tip ?? "");
    for (const change of changes) draft.add(change);
    for (const edit of edits) await draft.edit(edit);
    const files = patch === undefined ? [] : parsePatch(patch);
    for (const file of files) await draft.patch(file);
    draft.require();
    const made = await project.invoke(commitToWorkspace, {
      name: workspace,
      message,
      changes: draft.changes,
      parent: tip,
      generation,
    });
    const { branch, uuid, commits_made } = made;
    return {
      data: {
        workspace: made.name,
        branch,
        uuid,
        parent: made.parent,
        commits_made,
        files: draft.changes.map((change) => change.rename_to ?? change.path),
        moved: draft.moved,
      },
      cuts: [
        { field: "files", noun: "files", elsewhere: "get_checkin with this uuid lists all" },
        { field: "moved", noun: "moved hunks" },
      ],
    };
  },
});

/**
 * The tip of a workspace, to which edits and patches apply.
 *
 * @throws Invalid if the call names another
 */
async function tipOf(project: ToolCall, name: string, parent: string | undefined) {
  const { tip } = await project.invoke(getWorkspace, { name, max_files: 0 });
  if (parent !== undefined && !tip.startsWith(parent)) {
    throw new Invalid(
      `The workspace has moved on: its tip is ${tip.slice(0, HASH_DIGITS)}. Read the files again`,
    );
  }
  return tip;
}

const MEBIBYTE = 1024 * 1024;

/** Longest text that edits and patches change, and most text of one commit, in characters. */
const [MAX_TEXT, MAX_DRAFT] = [MEBIBYTE, 8 * MEBIBYTE];

/** Most text that the edits and the patch of one commit are sought in, in characters. */
const MAX_SOUGHT = 64 * MEBIBYTE;

/** Files whose faults an error names. */
const MAX_FAULTS = 20;

/** The text that a commit may still be sought in. Others have their turn after each mebibyte. */
class Seeking {
  #left = MAX_SOUGHT;
  #sincePause = 0;

  /** @throws Invalid if that was too much */
  async take(text: string): Promise<void> {
    this.#left -= text.length;
    if (this.#left < 0) {
      throw new Invalid(
        `Edits and hunks at another line than the patch says are sought in at most ` +
          `${MAX_SOUGHT / MEBIBYTE} MiB of text, and these need more: make several commits`,
      );
    }
    this.#sincePause += text.length;
    if (this.#sincePause < MEBIBYTE) return;
    this.#sincePause = 0;
    await nextTurn();
  }
}

/** The changes of a commit, as edits and patches make them on top of a check-in. */
class Draft {
  readonly moved: string[] = [];
  readonly #project: ToolCall;
  readonly #tip: string;
  readonly #changes = new TextMap<Change>();
  readonly #faults: string[] = [];
  readonly #seeking = new Seeking();
  #size = 0;

  constructor(project: ToolCall, tip: string) {
    this.#project = project;
    this.#tip = tip;
  }

  get changes(): Change[] {
    return [...this.#changes.values()];
  }

  /** @throws Invalid if an edit or a part of the patch did not apply; names each */
  require(): void {
    if (this.#faults.length === 0) return;
    const named = this.#faults.slice(0, MAX_FAULTS);
    const left = this.#faults.length - named.length;
    if (left > 0) named.push(`${left} more parts do not apply`);
    throw new Invalid(`Nothing was committed. ${named.join(". ")}`);
  }

  add(change: Change): void {
    if (this.#changes.has(change.path)) throw new Invalid(`"changes" names ${change.path} twice`);
    this.#set(change);
  }

  async edit({ path, old_text, new_text }: z.output<typeof editSchema>): Promise<void> {
    const text = await this.#read(path);
    if (text === null) return;
    const { first, count } = occurrencesOf(text, old_text);
    if (count === 1) {
      this.#write(path, text.slice(0, first) + new_text + text.slice(first + old_text.length));
    } else if (count === 0) {
      this.#faults.push(`${path} does not contain the "old_text" of its edit`);
    } else this.#faults.push(`${path} contains "old_text" ${count} times: give more of its lines`);
  }

  async patch({ from, to, executable, hunks }: FilePatch): Promise<void> {
    const mode = executable === null ? {} : { executable };
    const text = from === null ? "" : await this.#read(from);
    if (text === null) return;
    if (from === null && to !== null && await this.#find(to) !== undefined) {
      this.#faults.push(`The patch makes ${to}, which exists already`);
      return;
    }
    try {
      const search = () => this.#seeking.take(text);
      const patched = await applyHunks(to ?? from ?? "", hunks, { text, search });
      if (to === null) {
        if (from !== null) this.#remove(from, hunks.length === 0 ? "" : patched.text);
        return;
      }
      this.moved.push(...patched.moved);
      const path = from ?? to;
      const rename = path === to ? {} : { rename_to: to };
      const content = hunks.length === 0 && from !== null ? {} : { content: patched.text };
      this.#set({ ...this.#changes.get(path), path, ...rename, ...content, ...mode });
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      this.#faults.push(error.message);
    }
  }

  #write(path: string, content: string): void {
    this.#set({ ...this.#changes.get(path), path, content });
  }

  /** @throws Invalid if the commit gets too long */
  #set(change: Change): void {
    const sizeOf = (one: Change | undefined) => one?.content?.length ?? 0;
    this.#size += sizeOf(change) - sizeOf(this.#changes.get(change.path));
    if (this.#size > MAX_DRAFT) {
      throw new Invalid(
        `The changed files have more than ${MAX_DRAFT / MEBIBYTE} MiB in all: make several commits`,
      );
    }
    this.#changes.set(change.path, change);
  }

  /** @param rest what the patch leaves of the file */
  #remove(path: string, rest: string): void {
    if (rest === "") this.#set({ path, delete: true });
    else this.#faults.push(`The patch deletes ${path}, but does not contain all of its lines`);
  }

  /** The text of a file with the changes so far; null if it cannot be changed as a text. */
  async #read(path: string): Promise<string | null> {
    const text = await this.#find(path);
    if (text === undefined) this.#faults.push(`There is no file ${path} in the workspace`);
    if (text === null) this.#faults.push(`${path} is a binary file: send it whole`);
    if (text === undefined || text === null) return null;
    if (text.length > MAX_TEXT) {
      this.#faults.push(`${path} is longer than a mebibyte: push its change, or send it whole`);
      return null;
    }
    await this.#seeking.take(text);
    return text;
  }

  /** As {@link #read}; null for a binary file, undefined for none. */
  async #find(path: string): Promise<string | null | undefined> {
    const changed = this.#changes.get(path);
    if (changed?.delete === true) return undefined;
    if (changed?.content !== undefined) return changed.content;
    try {
      return textOf((await this.#project.invoke(getFile, { path, checkin: this.#tip })).content);
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }
}

/** `commit_files`. */
export const commitTools: readonly Tool[] = [commitFiles];
