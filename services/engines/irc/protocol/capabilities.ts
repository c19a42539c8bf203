/** The bits of the capabilities that clients can request, and what some of them announce. */

/** Keys that one user or channel may have; announced as `max-keys`. */
export const METADATA_KEYS = 20;

/** Keys that one client may subscribe to; announced as `max-subs`. */
export const METADATA_SUBSCRIPTIONS = 50;

/** Longest value, in bytes; announced as `max-value-bytes`. A classic line has room for it. */
export const METADATA_VALUE_BYTES = 300;

/** The bit of each capability in the set of a client. */
export const Cap = {
  ACCOUNT_NOTIFY: 1 << 0,
  ACCOUNT_TAG: 1 << 1,
  AWAY_NOTIFY: 1 << 2,
  BATCH: 1 << 3,
  CAP_NOTIFY: 1 << 4,
  ECHO_MESSAGE: 1 << 5,
  EXTENDED_JOIN: 1 << 6,
  INVITE_NOTIFY: 1 << 7,
  LABELED_RESPONSE: 1 << 8,
  MESSAGE_TAGS: 1 << 9,
  MULTI_PREFIX: 1 << 10,
  SASL: 1 << 11,
  SERVER_TIME: 1 << 12,
  SETNAME: 1 << 13,
  STANDARD_REPLIES: 1 << 14,
  USERHOST_IN_NAMES: 1 << 15,
  CHATHISTORY: 1 << 16,
  EVENT_PLAYBACK: 1 << 17,
  EXTENDED_MONITOR: 1 << 18,
  ACCOUNT_REGISTRATION: 1 << 19,
  METADATA_2: 1 << 20,
  METADATA_3: 1 << 21,
  RELAYMSG: 1 << 22,
  ENVELOPES: 1 << 23,
  MESSAGE_REDACTION: 1 << 24,
  MULTILINE: 1 << 25,
  READ_MARKER: 1 << 26,
  CHANNEL_RENAME: 1 << 27,
  CHGHOST: 1 << 28,
  NO_IMPLICIT_NAMES: 1 << 29,
  PRE_AWAY: 1 << 30,
} as const;
