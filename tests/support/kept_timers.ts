/**
 * Does work while `setTimeout` only keeps its tasks. So a test can run one that was cleared, as
 * Deno 2.4 may do in the turn in which its timer ends.
 */
export function keepTimers(work: (tasks: readonly (() => void)[]) => void): void {
  const tasks: (() => void)[] = [];
  const { setTimeout } = globalThis;
  globalThis.setTimeout = ((task: () => void) => tasks.push(task)) as unknown as typeof setTimeout;
  try {
    work(tasks);
  } finally {
    globalThis.setTimeout = setTimeout;
  }
}
