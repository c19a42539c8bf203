import { serveProcess } from "../services/kernel/serve_process.ts";
import type { Leaf } from "./command_line/mod.ts";

/** `muster run-worker`, which muster starts itself; see `startProcess`. */
export const RUN_WORKER: Leaf = { run: serveProcess };
