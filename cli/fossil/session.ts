import {
  addUser,
  type Author,
  isFromSystem,
  type OpenOptions,
  type Paging,
  Reader,
  Repository,
} from "../../services/engines/fossil/mod.ts";
import { CommandFailed, print } from "../output.ts";

/** The repository file of a command. */
export interface Session {
  readonly path: string;
  readonly repository: Repository;
  readonly reader: Reader;
}

/** Options of every command that writes. */
export interface WriteOptions {
  readonly user?: string;
  readonly json?: boolean;
}

/** Runs a command that reads; also in folders that cannot be written. */
export function reading<T>(path: string, work: (session: Session) => T): Promise<Awaited<T>> {
  return withRepository(path, { readOnly: true }, work);
}

/** Runs a command that writes. The file keeps its journal mode. */
export function writing<T>(path: string, work: (session: Session) => T): Promise<Awaited<T>> {
  return withRepository(path, { writeAheadLog: false }, work);
}

/** Runs a command that writes in a user's name; the repository gets the user if it has none. */
export function writingAs<T>(
  path: string,
  options: WriteOptions,
  work: (session: Session, author: Author) => T,
): Promise<Awaited<T>> {
  return writing(path, (session) => {
    const { repository } = session;
    const user = options.user ?? defaultUser();
    return repository.write({ user, ip: null }, () => {
      const login = { login: user, capabilities: DEVELOPER, password: null };
      addUser(repository.db, login);
      return work(session, { user, date: Date.now() });
    });
  });
}

/** The program's capability that stands for the rights of its special user "developer". */
const DEVELOPER = "v";

/** The login name of the person at the command line. */
export function defaultUser(): string {
  return Deno.env.get("USER") || "admin";
}

async function withRepository<T>(
  path: string,
  options: OpenOptions,
  work: (session: Session) => T,
): Promise<Awaited<T>> {
  return await explaining(path, async () => {
    using repository = Repository.open(path, options);
    return await work({ path, repository, reader: new Reader(repository) });
  });
}

/**
 * Runs work with the engine; turns its errors into messages for the person at the command line.
 *
 * @param path the repository file, for the messages.
 * @throws {CommandFailed}
 */
export async function explaining<T>(path: string, work: () => T): Promise<Awaited<T>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CommandFailed || error instanceof Deno.errors.BrokenPipe) throw error;
    const { serviceErrorOf } = await import("../../services/work/projects/errors/mod.ts");
    const refusal = serviceErrorOf(error, `"${path}"`);
    if (refusal === null) throw error;
    throw new CommandFailed(isFromSystem(error) ? error.message : refusal.message);
  }
}

export { printJson } from "../output.ts";

/** The first digits of a hash, as people write it. */
export function shortHash(hash: string): string {
  return hash.slice(0, 10);
}

/** A comment on one line, for lists: each run of white space becomes one space. */
export function onOneLine(comment: string): string {
  return comment.trim().replace(/\s+/g, " ");
}

/** A timestamp to the minute, UTC. */
export function shortTime(timestamp: string): string {
  return timestamp.slice(0, 16).replace("T", " ");
}

/** Entries shown by default. */
const DEFAULT_LIMIT = 25;
/** Longest page of the engine. */
const PAGE = 10_000;

/** A page of a list, and the length of the whole list. */
type Page<Key extends string> =
  & { readonly total: number }
  & Readonly<
    Record<Key, readonly unknown[]>
  >;

/**
 * Reads the requested entries of a list, page by page.
 *
 * @param paging a limit of 0 stands for all entries.
 * @param key the property of a page that holds its entries.
 */
export function readPages<Key extends string, Result extends Page<Key>>(
  { limit = DEFAULT_LIMIT, offset = 0 }: Paging,
  key: Key,
  read: (page: Required<Paging>) => Result,
): Result {
  const end = limit === 0 ? Infinity : offset + limit;
  const entries: unknown[] = [];
  for (let start = offset;; start += PAGE) {
    const result = read({ limit: Math.min(PAGE, end - start), offset: start });
    for (const entry of result[key]) entries.push(entry);
    if (start + PAGE >= Math.min(end, result.total)) return { ...result, [key]: entries };
  }
}

/** Prints that a list continues. */
export function printRest(shown: number, total: number): void {
  if (shown < total) print(`${shown} of ${total}; -n 0 shows all`);
}
