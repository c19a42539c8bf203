import { resolve } from "node:path";

/**
 * The path of the executable that `MUSTER_EXECUTABLE` names; undefined if it names none. A relative
 * path counts from the folder of the caller: a task runs in the folder of the tree, and knows from
 * `INIT_CWD` where it was called.
 */
export function namedExecutable(
  environment: Pick<Deno.Env, "get"> = Deno.env,
): string | undefined {
  const named = environment.get("MUSTER_EXECUTABLE") ?? "";
  return named === "" ? undefined : resolve(environment.get("INIT_CWD") ?? "", named);
}
