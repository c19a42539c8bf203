import {
  addUser,
  type Author,
  errorCodeOf,
  FossilError,
  Reader,
  Repository,
} from "../../services/fossil/mod.ts";
import { CommandFailed } from "../output.ts";

/** A repository file that a command works on. */
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

/** Runs a command that reads. The file stays as it is, byte for byte. */
export function reading<T>(path: string, work: (session: Session) => T): Promise<Awaited<T>> {
  return withRepository(path, { readOnly: !usesWriteAheadLog(path) }, work);
}

/** Runs a command that writes. */
export function writing<T>(path: string, work: (session: Session) => T): Promise<Awaited<T>> {
  return withRepository(path, { readOnly: false }, work);
}

/** Runs a command that writes in a user's name; the repository gets the user where it has none. */
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

/** The program's capability to do what the special user "developer" may do. */
const DEVELOPER = "v";

/** Whoever runs the command. */
export function defaultUser(): string {
  return Deno.env.get("USER") || "admin";
}

async function withRepository<T>(
  path: string,
  options: { readonly readOnly: boolean },
  work: (session: Session) => T,
): Promise<Awaited<T>> {
  return await explaining(async () => {
    using repository = Repository.open(path, options);
    return await work({ path, repository, reader: new Reader(repository) });
  });
}

/**
 * Runs work with the engine; what it refuses becomes a sentence for the person who asked.
 *
 * @throws {CommandFailed}
 */
export async function explaining<T>(work: () => T): Promise<Awaited<T>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CommandFailed || error instanceof Deno.errors.BrokenPipe) throw error;
    if (errorCodeOf(error) === null) throw error;
    throw new CommandFailed(error instanceof FossilError ? error.message : sentence(error));
  }
}

/** What the system or SQLite says, such as "database is locked", as a sentence. */
function sentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.slice(0, 1).toUpperCase() + message.slice(1);
}

/** Bytes 18 and 19 of a database file: 2 where a log is written ahead. */
const VERSION_OFFSET = 18;
const WITH_LOG = 2;

/**
 * Whether reading needs the files of a write-ahead log, which only a connection that may write
 * takes away again.
 *
 * @see {@link https://www.sqlite.org/fileformat.html#file_format_version_numbers}
 */
function usesWriteAheadLog(path: string): boolean {
  const header = new Uint8Array(VERSION_OFFSET + 1);
  try {
    using file = Deno.openSync(path);
    file.readSync(header);
  } catch {
    // Opening it as a repository says what is wrong.
    return false;
  }
  return header[VERSION_OFFSET] === WITH_LOG;
}
