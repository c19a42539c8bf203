/** Prepares a minified bundle for the executable, which has all of it in memory. */
export { packSeldom } from "./packed.ts";
export { makeScripts, SCRIPTS } from "./scripts.ts";
export { addTrial, packCaches, runTrial, TRIAL, unpackCaches } from "./trials.ts";
