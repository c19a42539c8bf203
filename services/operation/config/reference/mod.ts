/** The configuration keys as documents. Nothing that serves needs them. */
export { commentedFile, type Key, listKeys, referenceFile } from "./template.ts";
