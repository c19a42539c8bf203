/** Technotes: dated notes in the timeline, and their versions. */
export { Technotes, type TechnoteWriter } from "./technotes.ts";
