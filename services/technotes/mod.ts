/** Technotes: dated notes in the timeline, and their versions. */
export { newTechnoteSchema, technoteChangeSchema } from "./schemas.ts";
export { Technotes, type TechnoteWriter } from "./technotes.ts";
