import {
  addUser,
  type Author,
  isFromSystem,
  type OpenOptions,
  Reader,
  Repository,
} from "../../services/fossil/mod.ts";
import { serviceErrorOf } from "../../services/projects/errors/mod.ts";
import { CommandFailed } from "../output.ts";

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
    const refusal = serviceErrorOf(error, `"${path}"`);
    if (refusal === null) throw error;
    throw new CommandFailed(isFromSystem(error) ? error.message : refusal.message);
  }
}
