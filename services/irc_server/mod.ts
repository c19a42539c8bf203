/**
 * What fills the ports of the IRC engine: who may log in and speak, what operators may do, and what
 * is kept of channels and readers. The folders below have doors of their own: `bans/`, `services/`
 * (NickServ and ChanServ), `history/`, `virtual_users/`.
 */
export { AccountAuthority, type AccountAuthorityOptions, type IrcOperator } from "./authority.ts";
export { IrcModeration } from "./moderation.ts";
export { ircOriginOf } from "./origin.ts";
export { ReadMarkers } from "./read_markers.ts";
export { SelfRegistration, type SelfRegistrationOptions } from "./self_registration.ts";
