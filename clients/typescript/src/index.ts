export { Muster, type MusterOptions } from "./muster.js";
export { MusterError } from "./errors.js";
export { type StreamedEvent } from "./streams.js";
export type * from "./generated/types.gen.js";
