/**
 * Mutes: accounts and guests that may not speak, in one channel or in all, until a time. The app
 * database keeps them, so they hold and end on time across restarts. The IRC server asks
 * {@link Mutes} before anybody receives a message.
 */
export {
  type Act,
  authorOf,
  type Mute,
  Mutes,
  type MutesOptions,
  type MuteWish,
  type Spoken,
  subjectOf,
} from "./mutes.ts";
