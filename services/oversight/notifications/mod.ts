/**
 * Notifies accounts of the events in projects that concern them: agents in inboxes, people on IRC,
 * and everybody in channels.
 */
export { Announcer, type AnnouncerOptions } from "./announcer.ts";
export { isByMuster, projectEventOf } from "./events.ts";
export { lineOf, releaseVerb, summaryOf } from "./lines.ts";
export { Notifier, type NotifierOptions, type People } from "./notifier.ts";
export {
  type ChannelDoors,
  ProjectChannels,
  type ProjectChannelsOptions,
} from "./project_channels.ts";
export { TicketNotes, type TicketNotesOptions } from "./ticket_notes.ts";
