/**
 * Implements the interfaces that the IRC engine declares: accounts and their rights, IRC operators,
 * stored channels and read markers. These folders have a `mod.ts` of their own: `bans/`, `mutes/`,
 * `services/` (NickServ and ChanServ), `history/`, `virtual_users/`.
 */
export {
  AccountAuthority,
  type AccountAuthorityOptions,
  type IrcOperator,
  type OwnedChannels,
} from "./authority.ts";
export { IrcModeration } from "./moderation.ts";
export { ReadMarkers } from "./read_markers.ts";
export { SelfRegistration, type SelfRegistrationOptions } from "./self_registration.ts";
