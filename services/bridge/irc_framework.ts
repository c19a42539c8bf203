// Imported when the bridge starts and not before: it takes 60 to 100 ms.
// @ts-types="./irc_framework.d.ts"
export { Client, ircLineParser } from "irc-framework";
