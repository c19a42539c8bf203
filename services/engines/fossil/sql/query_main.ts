/** Where the process of a query begins if muster runs from the tree. */
import { runQueryProcess } from "./query_process.ts";

await runQueryProcess();
