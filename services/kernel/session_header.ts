/** The header by which muster's own clients name their session, at every address of a server. */
export const SESSION_HEADER = "Muster-Session";

/** The form of a session's name. */
export const SESSION_ID = /^[\x21-\x7e]{8,128}$/;

/** The header of an answer that says which name a session has. */
export const SESSION_NAME_HEADER = "Muster-Session-Name";
