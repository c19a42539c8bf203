import { until } from "./until.ts";

/** So much that the runtime soon collects it; the system gives no memory that nobody writes. */
const BYTES = 64 * 2 ** 20;

/** Lets the runtime collect what nothing holds any more. */
export async function collectGarbage(): Promise<void> {
  for (let time = 0; time < 2; time++) {
    const sentinel = new WeakRef({});
    await until(() => {
      new ArrayBuffer(BYTES);
      return sentinel.deref() === undefined;
    });
  }
}
