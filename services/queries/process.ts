import { fileURLToPath } from "node:url";
import { QUERY_COMMAND, type QueryAnswer, type QueryRequest } from "../fossil/sql/mod.ts";
import { ownProgram } from "../own_program.ts";

/** Runs a query in a process of its own. */
export interface QueryProcess {
  /** The answer; null if the process ended without one. */
  readonly answer: Promise<QueryAnswer | null>;
  /** Ends the process at once, whatever it does. */
  kill(): void;
}

/** Starts the process of a query. */
export type StartQuery = (request: QueryRequest) => QueryProcess;

/** Where the process begins if muster runs from the tree. */
const MAIN = new URL("../fossil/sql/query_main.ts", import.meta.url);

/** Megabytes of JavaScript's memory: an answer is at most a few. */
const HEAP_MEGABYTES = 128;

/** What Deno needs to find its folder and a place for temporary files. */
const ENVIRONMENT = ["DENO_DIR", "HOME", "TMPDIR", "XDG_CACHE_HOME"];

/**
 * Starts this program again, with a hidden command. From the tree, the new process may only read
 * the repository and its own modules.
 *
 * @throws {Deno.errors.NotCapable} This process may not start others.
 */
export function startQuery(request: QueryRequest): QueryProcess {
  const process = new Deno.Command(ownProgram(), {
    args: Deno.build.standalone ? [QUERY_COMMAND] : treeArguments(request.path),
    clearEnv: true,
    env: Object.fromEntries(
      ENVIRONMENT.flatMap((name) => {
        const value = Deno.env.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  return {
    answer: exchange(process, request),
    kill: () => {
      try {
        process.kill("SIGKILL");
      } catch {
        // It has ended already.
      }
    },
  };
}

function treeArguments(repository: string): string[] {
  const files = [repository, `${repository}-wal`, `${repository}-shm`];
  const readable = [...files, fileURLToPath(new URL(".", MAIN))].map((path) =>
    path.replaceAll(",", ",,")
  );
  return [
    "run",
    "--quiet",
    "--no-config",
    "--no-prompt",
    "--no-remote",
    "--allow-sys",
    `--allow-read=${readable.join()}`,
    `--v8-flags=--max-old-space-size=${HEAP_MEGABYTES}`,
    fileURLToPath(MAIN),
  ];
}

/** Standard input stays open as long as this process lives; the query's process watches it. */
async function exchange(
  process: Deno.ChildProcess,
  request: QueryRequest,
): Promise<QueryAnswer | null> {
  const writer = process.stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
  } catch {
    // It has ended; its status tells.
  }
  const text = await new Response(process.stdout).text();
  const { success } = await process.status;
  await writer.close().catch(() => {});
  return success ? JSON.parse(text) : null;
}
