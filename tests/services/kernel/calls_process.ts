import { serveProcess } from "../../../services/kernel/serve_process.ts";

const url = new URL("./calls_worker.ts", import.meta.url);
await serveProcess(new Worker(url, { type: "module" }), { maxLine: 1000 });
