import { join } from "node:path";
import { RepositoryPool } from "../../services/engines/fossil/front/mod.ts";
import type { PooledRepository } from "../../services/engines/fossil/mod.ts";
import type { Figure } from "../scenario.ts";
import { median } from "../statistics.ts";
import { FossilProgram } from "./program.ts";

/** A folder with copies of a repository, for muster's engine and for the `fossil` program. */
export class Workbench implements AsyncDisposable {
  readonly folder: string;
  readonly program: FossilProgram;
  /** Opens repositories as the server does: in workers. */
  readonly pool = new RepositoryPool();

  private constructor(folder: string) {
    this.folder = folder;
    this.program = new FossilProgram(folder);
  }

  static async open(): Promise<Workbench> {
    return new Workbench(await Deno.makeTempDir({ prefix: "muster-bench-" }));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Copies a repository; returns the copy's path. */
  async copy(source: string, name: string): Promise<string> {
    const target = this.path(name);
    await Deno.copyFile(source, target);
    await Deno.chmod(target, 0o600);
    return target;
  }

  /** Makes a checkout of a repository; returns its path. */
  async checkout(repository: string, name: string): Promise<string> {
    const folder = this.path(name);
    await Deno.mkdir(folder);
    await this.program.run(["user", "new", this.program.user, "", "secret", "-R", repository]);
    await this.program.run(["open", "--nested", repository], { folder });
    return folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/**
 * The milliseconds of the first call, which finds nothing in memory, and the median of the others.
 */
export async function timeCalls(
  times: number,
  call: (round: number) => Promise<unknown>,
): Promise<{ first: number; median: number }> {
  const all: number[] = [];
  for (let round = 0; round <= times; round++) {
    const startedAt = performance.now();
    await call(round);
    all.push(performance.now() - startedAt);
  }
  const [first = NaN, ...others] = all;
  return { first, median: median(others) };
}

/**
 * The figures of muster and the program for the same work.
 *
 * @param aim the aim, as a part of the program's time
 */
export function compared(name: string, muster: number, fossil: number, aim: number): Figure[] {
  return [
    { name, value: muster, unit: "ms" },
    { name: `${name} by fossil`, value: fossil, unit: "ms" },
    { name: `${name}: part of fossil's`, value: muster / fossil, unit: "×", aim },
  ];
}

/** Changes a file at the tip of trunk; returns the check-in's hash. */
export async function commitOne(
  repository: PooledRepository,
  parent: string,
  path: string,
  text: string,
): Promise<string> {
  return await repository.commit({
    user: "bench",
    date: Date.now(),
    parent,
    comment: "one file",
    changes: [{ kind: "write", path, content: new TextEncoder().encode(text) }],
  });
}
