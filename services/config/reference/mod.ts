/** The configuration keys as documents. Nothing that serves needs them. */
export { type Key, listKeys } from "./keys.ts";
export { commentedFile, referenceFile } from "./template.ts";
