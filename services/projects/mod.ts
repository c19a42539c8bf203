/** Projects and their repositories. */
export { serviceErrorOf } from "./errors.ts";
