/** Runs the checks of a folder, as a runner would. */
import { join } from "node:path";
import type { CheckDefinition } from "../services/work/definitions/mod.ts";
import type { LogLine } from "../services/work/runs/assignment.ts";
import { type Ended, execute, Output, type Sandbox } from "./executor/mod.ts";

/** The same as on a server that sets no other limit. */
const OUTPUT_BYTES = 100 * 1024 * 1024;

export interface LocalOptions {
  readonly check: CheckDefinition;
  /** The folder that is the checkout. */
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** The values of the check's secrets that are known here. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly write: (line: LogLine) => void;
  /** Ends the check. */
  readonly signal: AbortSignal;
}

/** Runs one check in the folder itself: what it writes stays there. */
export async function runLocally(options: LocalOptions): Promise<Ended> {
  const { check, folder, sandbox, secrets, write, signal } = options;
  const temporary = await Deno.makeTempDir({ prefix: "muster-check-" });
  try {
    const home = join(temporary, "home");
    await Deno.mkdir(home);
    const output = new Output({
      secrets: Object.values(secrets),
      limitBytes: OUTPUT_BYTES,
      write,
    });
    const ended = await execute({
      plan: {
        commands: [...check.commands],
        shell: check.shell,
        timeout_seconds: check.timeoutSeconds,
        network: check.network,
        image: check.image,
        env: { MUSTER_CHECK: check.name, ...check.env },
        secrets: { ...secrets },
        limits: {
          memory_mb: check.limits.memoryMb,
          processes: check.limits.processes,
          disk_mb: check.limits.diskMb,
          output_mb: OUTPUT_BYTES / 1024 / 1024,
        },
      },
      places: { checkout: folder, home },
      name: `local-${crypto.randomUUID()}`,
      sandbox,
      output,
      signal,
    });
    await output.note(ended.summary);
    return ended;
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
}

/**
 * The checks that a name asks for, each after those that it needs.
 *
 * @param name null for all
 */
export function inOrder(
  checks: readonly CheckDefinition[],
  name: string | null,
): CheckDefinition[] {
  const byName = new Map(checks.map((check) => [check.name, check]));
  const ordered = new Set<CheckDefinition>();
  const add = (check: CheckDefinition | undefined): void => {
    if (check === undefined || ordered.has(check)) return;
    for (const need of check.needs) add(byName.get(need));
    ordered.add(check);
  };
  for (const check of checks) if (name === null || check.name === name) add(check);
  return [...ordered];
}
