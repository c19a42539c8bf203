/** A configuration file cannot be edited; the message says why, after the file's name. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}
