/** Lets the workers of services share threads. `deno task test` preloads this. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../scripts/bundle.ts";
import { BorrowedWorker, Threads } from "./borrowed_workers.ts";

const SERVICES = pathToFileURL(join(ROOT, "services/")).href;

const threads = new Threads();

globalThis.Worker = new Proxy(Worker, {
  construct(Original, [url, options]: [URL | string, WorkerOptions]) {
    const isService = String(url).startsWith(SERVICES);
    return isService
      ? new BorrowedWorker(threads, String(url), options)
      : new Original(url, options);
  },
});
