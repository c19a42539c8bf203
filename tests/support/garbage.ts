import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Lets the runtime collect what nothing holds any more. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  // What this task has touched is held until its end.
  await new Promise((resolve) => setTimeout(resolve, 0));
  collect();
}
