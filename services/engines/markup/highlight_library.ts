/**
 * `highlight.js` with its common languages. Its own types would put the DOM in scope of the whole
 * program, where it changes the types of streams.
 */
// @ts-types="./highlight_library.d.ts"
import library from "highlight.js/lib/common";

export default library;
