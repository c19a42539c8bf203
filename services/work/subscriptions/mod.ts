/**
 * What programs subscribe to: the events of projects, by the rights of the moment, and receivers to
 * which they are posted. See README.md.
 */
export { Callbacks, type CallbacksOptions, ReceiverFailed, type Subscribed } from "./callbacks.ts";
export {
  EVENT_TYPES,
  EventRights,
  followedTypes,
  type Interest,
  type Occurrence,
} from "./event_types.ts";
export { cursorOf, type EventBatch, nextEvents, positionOf } from "./positions.ts";
