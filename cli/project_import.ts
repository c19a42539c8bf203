/** `muster project import NAME URL`: the server fills a project from elsewhere, and this watches it. */
import { z } from "zod";
import type { ApiClient } from "./client.ts";
import { TerminalProgress } from "./fossil/progress.ts";
import { CommandFailed } from "./output.ts";
import { pathOf } from "./project_calls.ts";

/** Between two looks at an import, in milliseconds. */
const PAUSE_MS = 500;

const PHASES = {
  asking: "Asks the server:",
  receiving: "Bytes received:",
  reading: "Bytes of objects read:",
  writing: "Commits written:",
} as const;

const viewSchema = z.object({
  state: z.enum(["running", "done", "failed", "cancelled"]),
  phase: z.enum(["asking", "receiving", "reading", "writing"]),
  done: z.number(),
  total: z.number().nullable(),
  error: z.string().nullable(),
  checkins: z.number().nullable(),
  notices: z.object({
    counts: z.record(z.string(), z.number()),
    first: z.array(z.object({ kind: z.string(), subject: z.string(), message: z.string() })),
  }).nullable(),
});

/** Where to import from. */
export interface ImportPlace {
  readonly url: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** The import did not come about; the project is as empty as before. */
export class ImportRefused extends CommandFailed {}

/** Whether an argument is a URL and no file. */
export function isUrl(text: string | undefined): text is string {
  return text !== undefined && /^https?:\/\//i.test(text);
}

/**
 * Has the server fill a project, and waits for the end. Ctrl-C cancels it.
 *
 * @throws Refused, Unreachable; ImportRefused if it fails or is cancelled
 */
export async function importFromServer(
  client: ApiClient,
  slug: string,
  place: ImportPlace,
): Promise<z.infer<typeof viewSchema>> {
  const path = `${pathOf(slug)}/import`;
  let view = await client.call("POST", path, viewSchema, place);
  const cancel = () => void client.call("DELETE", path, viewSchema).catch(() => {});
  Deno.addSignalListener("SIGINT", cancel);
  using progress = new TerminalProgress();
  try {
    while (view.state === "running") {
      progress.show(PHASES[view.phase], view.done, view.total);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      view = await client.call("GET", path, viewSchema);
    }
  } finally {
    Deno.removeSignalListener("SIGINT", cancel);
  }
  if (view.state === "done") return view;
  throw new ImportRefused(view.error ?? "The import was cancelled");
}
