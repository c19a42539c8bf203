import { fileURLToPath } from "node:url";

/** What stands before the words of a command when this program starts itself: how Deno runs the tree. */
export function programArguments(): string[] {
  if (Deno.build.standalone) return [];
  const main = fileURLToPath(Deno.mainModule);
  return ["run", "--quiet", "--no-prompt", "--permission-set", main];
}
