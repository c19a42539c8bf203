/** Joins what the start of a server loads to one script that V8 need not parse. */
export { addTrial, runTrial, TRIAL } from "./cache.ts";
export { CACHE, makeStartScript } from "./script.ts";
