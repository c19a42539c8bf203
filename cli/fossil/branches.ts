import {
  amendCheckin,
  type Author,
  cancelRelease,
  listBranches,
  listTags,
  resolveCheckin,
  writeBranch,
  writeRelease,
} from "../../services/engines/fossil/mod.ts";
import { CommandFailed, print, table } from "../output.ts";
import {
  printJson,
  reading,
  type Session,
  shortHash,
  shortTime,
  type WriteOptions,
  writingAs,
} from "./session.ts";
import { refuseSubcommand } from "./habits.ts";

interface JsonOption {
  readonly json?: boolean;
}

/** `muster fossil branches`. */
export async function branches(file: string, { json = false }: JsonOption): Promise<void> {
  await reading(file, ({ reader }) => {
    const all = listBranches(reader);
    if (json) return printJson(all);
    const rows = all.map((branch) => [
      branch.name,
      branch.status,
      shortTime(branch.last_checkin),
      shortHash(branch.last_uuid),
      branch.last_user,
      String(branch.checkin_count),
    ]);
    print(table(["BRANCH", "STATUS", "LAST", "HASH", "USER", "CHECK-INS"], rows));
  });
}

/** `muster fossil tags`. */
export async function tags(file: string, { json = false }: JsonOption): Promise<void> {
  await reading(file, ({ reader }) => {
    const all = listTags(reader);
    if (json) return printJson(all);
    const rows = all.map(({ name, uuid, timestamp, user }) => [
      name,
      shortHash(uuid),
      shortTime(timestamp),
      user,
    ]);
    print(table(["TAG", "HASH", "TIME", "USER"], rows));
  });
}

interface TagOptions extends WriteOptions {
  readonly message?: string;
  readonly move?: boolean;
  readonly cancel?: boolean;
}

/** `muster fossil tag`: tags a check-in, or removes a tag. */
export async function tag(
  file: string,
  name: string | undefined,
  checkin: string | undefined,
  { message, move, cancel = false, json = false, ...options }: TagOptions,
): Promise<void> {
  if (name === undefined) {
    if (cancel || move === true || message !== undefined) {
      throw new CommandFailed("Name the tag", 2);
    }
    return await tags(file, { json });
  }
  refuseSubcommand("tag", file, name, [checkin ?? "NAME"]);
  if (cancel && checkin !== undefined) {
    throw new CommandFailed("--cancel removes the tag from every check-in: do not name one", 2);
  }
  const hash = await writingAs(file, options, ({ repository, reader }, author) => {
    if (cancel) return cancelRelease(repository, { ...author, name });
    return writeRelease(repository, {
      ...author,
      name,
      checkin: resolveCheckin(reader, checkin).uuid,
      ...message === undefined ? {} : { message },
      ...move === undefined ? {} : { move },
    });
  });
  if (json) printJson({ name, uuid: hash });
  else print(hash);
}

interface BranchOptions extends WriteOptions {
  readonly from?: string;
  readonly color?: string;
  readonly close?: boolean;
  readonly reopen?: boolean;
}

/** `muster fossil branch`: starts a branch, closes it or opens it again. */
export async function branch(
  file: string,
  name: string | undefined,
  options: BranchOptions,
): Promise<void> {
  if (name === undefined) {
    const { from, color, close, reopen, json = false } = options;
    const isChange = [from, color, close, reopen].some((value) => value !== undefined);
    if (isChange) throw new CommandFailed("Name the branch", 2);
    return await branches(file, { json });
  }
  refuseSubcommand("branch", file, name, []);
  const hash = await writingAs(file, options, (session, author) => {
    const known = listBranches(session.reader).find((branch) => branch.name === name);
    if (options.close === undefined && options.reopen === undefined) {
      if (known !== undefined) throw new CommandFailed(`The branch "${name}" already exists`);
      return startBranch(session, author, name, options);
    }
    if (known === undefined) throw new CommandFailed(`There is no branch "${name}"`);
    const closed = options.close === true;
    return amendCheckin(session.repository, { ...author, checkin: known.last_uuid, closed });
  });
  if (options.json === true) printJson({ name, uuid: hash });
  else print(hash);
}

function startBranch(
  { repository, reader }: Session,
  author: Author,
  name: string,
  { from, color }: BranchOptions,
): string {
  return writeBranch(repository, {
    ...author,
    name,
    from: resolveCheckin(reader, from).uuid,
    ...color === undefined ? {} : { color },
  });
}
