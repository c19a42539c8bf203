/** Where a process that is a worker begins if muster runs from the tree. */
import { serveProcess } from "./serve_process.ts";

await serveProcess();
