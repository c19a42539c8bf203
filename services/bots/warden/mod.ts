/** The warden: see warden.ts. */
export { warden, type WardenParts } from "./warden.ts";
