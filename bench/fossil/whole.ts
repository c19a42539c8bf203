import type { Figure } from "../scenario.ts";
import { AIM, fossilScenario } from "./scenario.ts";
import { compared, type Workbench } from "./workbench.ts";

export const WHOLE = fossilScenario(
  "fossil-whole",
  "what goes over a whole repository, once",
  async (source, bench) => [
    ...await compareVerification(source, bench),
    ...await compareRebuild(source, bench),
    ...await compareImport(source, bench),
  ],
);

async function compareVerification(source: string, bench: Workbench): Promise<Figure[]> {
  const path = await bench.copy(source, "verify.fossil");
  const repository = await bench.pool.open(path);
  const muster = await time(() => repository.verify());
  await repository.close();
  const fossil = await bench.program.run(["test-integrity", "-R", path]);
  return compared("decode everything", muster, fossil, AIM.whole);
}

async function compareRebuild(source: string, bench: Workbench): Promise<Figure[]> {
  const path = await bench.copy(source, "rebuild.fossil");
  const fossil = await bench.program.run(["rebuild", path]);
  const repository = await bench.pool.open(path);
  const muster = await time(() => repository.rebuild());
  return compared("rebuild", muster, fossil, AIM.whole);
}

/** Imports a Git repository that the program makes from the same history. */
async function compareImport(source: string, bench: Workbench): Promise<Figure[]> {
  const path = await bench.copy(source, "export.fossil");
  const stream = bench.path("stream");
  await bench.program.run(["export", "--git", path], { stdout: stream });
  const imported = bench.path("imported.fossil");
  const muster = await time(() =>
    bench.pool.import(imported, {
      create: { admin: "bench" },
      from: { source: stream, format: "git" },
    })
  );
  const target = bench.path("imported by fossil.fossil");
  const fossil = await bench.program.run(["import", "--git", target], { stdin: stream });
  return [
    ...compared("import from Git", muster, fossil, AIM.whole),
    { name: "imported file", value: (await Deno.stat(imported)).size / 1e6, unit: "MB" },
    { name: "imported file by fossil", value: (await Deno.stat(target)).size / 1e6, unit: "MB" },
  ];
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
