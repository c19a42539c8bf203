/** A runner of checks, as a client of its server. */
export { type RunnerOptions, serveJobs } from "./runner.ts";
export { Refused, Server } from "./server.ts";
