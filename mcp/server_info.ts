/** How the server names itself to clients. */
export const SERVER_INFO = { name: "muster", version: "0.1" };
