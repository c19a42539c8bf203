/** What several nodes cost, and whether a single server costs what it did. */
export { BEFORE } from "./before.ts";
export { CLUSTER } from "./cluster.ts";
