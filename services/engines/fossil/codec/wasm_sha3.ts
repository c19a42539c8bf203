/** What is used of the library, so that a bundle leaves out its other twenty hashes. */
export { createSHA3 } from "hash-wasm";
