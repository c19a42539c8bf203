// Imported only when the bridge starts, because the import takes 60 to 100 ms.
// @ts-types="./irc_framework.d.ts"
export { Client, ircLineParser } from "irc-framework";
