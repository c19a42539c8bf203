/** The version of this program, as in CHANGELOG.md. */
export const VERSION = "0.1.0";
