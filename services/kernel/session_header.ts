/** The header by which muster's own clients name their session, at every address of a server. */
export const SESSION_HEADER = "Muster-Session";
