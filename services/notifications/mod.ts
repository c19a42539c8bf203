/** Tells those whom the events of projects concern. */
export { Notifier, type NotifierOptions } from "./notifier.ts";
