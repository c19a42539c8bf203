/** Prepares a minified bundle for the executable, which has all of it in memory. */
export { addTrial, runTrial, TRIAL } from "./trials.ts";
export { packSeldom } from "./packed.ts";
export { CACHE, makeStartScript } from "./start_script.ts";
