/** Storing pushes: short ones in the turn of their project, long ones before it. */
import { join } from "node:path";
import type {
  GitPush,
  GitPushReport,
  PooledRepository,
  RehearsedPush,
} from "../../engines/fossil/mod.ts";
import { companionPath } from "../../engines/fossil/front/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import type { FreeSpace } from "../../kernel/files.ts";

/** How often a long push is rehearsed before nobody else may write meanwhile. */
const MAX_REHEARSALS = 3;

const NOTHING: GitPushReport = { receipt: null, refs: [] };

/** A push whose turn it is. */
export interface PushInTurn {
  readonly push: Omit<GitPush, "mark">;
  /** For what it writes. */
  readonly mark: string | null;
  /** Whether to store it would keep others waiting. */
  readonly isLong: boolean;
  /** Called before it is stored. */
  intend(): Promise<void>;
}

/** Stores a push in its turn. What it reports counts only for the last turn. */
export type StorePush = (
  repository: PooledRepository,
  push: PushInTurn,
) => Promise<GitPushReport>;

export interface PushTurnsOptions {
  /** Where copies of the repository are made. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly space: Pick<FreeSpace, "hasRoomFor">;
  /** Runs work outside of the project's turn. */
  readonly read: <T>(work: (repository: PooledRepository) => Promise<T>) => Promise<T>;
}

/**
 * Stores a push. A long one takes several turns of its project: between them it is rehearsed, and stored
 * if nothing that it depends on has changed until the next one. Where the disk has no room for the copy,
 * it takes one turn, and others wait.
 *
 * @param takeTurn waits for the project's turn, and says again what is to be stored
 * @returns what the last turn returned
 * @throws Unavailable if other programs write to the repository again and again
 */
export async function storeInTurns<Result>(
  { folder, signal, space, read }: PushTurnsOptions,
  takeTurn: (store: StorePush) => Promise<Result>,
): Promise<Result> {
  let rehearsed: { readonly push: string; readonly result: RehearsedPush } | null = null;
  const rehearse = async (repository: PooledRepository, push: GitPush) => {
    const own = join(folder, "rehearsal");
    if (rehearsed !== null) await Deno.remove(own, { recursive: true });
    await Deno.mkdir(own);
    const result = await repository.rehearsePush(join(own, "copy"), push, { signal });
    return { push: textOf(push), result };
  };
  for (let count = 0;; count++) {
    let wanted: GitPush | null = null;
    const result = await takeTurn(async (repository, { push: sent, mark, isLong, intend }) => {
      const push = { ...sent, mark };
      const hasRoom = async () => space.hasRoomFor(await copiedBytes(repository.path));
      if (!isLong || (rehearsed === null && !await hasRoom())) {
        await intend();
        return await repository.receivePush(push);
      }
      const isLast = count === MAX_REHEARSALS;
      if (isLast) rehearsed = await rehearse(repository, push);
      if (rehearsed?.push === textOf(push)) {
        const { report } = rehearsed.result;
        if (report.receipt === null) return report;
        await intend();
        if (await repository.storeRehearsed({ ...rehearsed.result, mark })) return report;
      }
      if (isLast) throw new Unavailable("The repository is written to at the moment; push again");
      wanted = push;
      return NOTHING;
    });
    if (wanted === null) return result;
    const push: GitPush = wanted;
    rehearsed = await read((repository) => rehearse(repository, push));
  }
}

/** Bytes of the copy that a rehearsal makes. */
async function copiedBytes(path: string): Promise<number> {
  const files = [path, companionPath(path)].flatMap((file) => [file, `${file}-wal`]);
  const sizes = files.map((file) => Deno.stat(file).then(({ size }) => size, () => 0));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** What makes a push the same as another one, at another time. */
function textOf(push: GitPush): string {
  const { draft: _, ...rest } = push;
  return JSON.stringify({ ...rest, mark: null, now: 0, rules: { ...push.rules, latest: 0 } });
}
