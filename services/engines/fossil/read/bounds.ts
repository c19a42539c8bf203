/** Most lines of one answer. */
export const MAX_FILE_LINES = 5000;

/** The order of a list of tickets. */
export const TICKET_ORDERS = ["created", "modified", "priority", "severity", "title"] as const;
