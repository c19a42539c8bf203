/** What a person sees of a text. */

/**
 * Characters that show nothing: spaces, controls, those that Unicode lets every font leave out, such
 * as U+200D, and the blank of Braille.
 */
const SHOWS = /[^\s\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a person sees something of a text, so that it can be a name or a title. */
export function isVisible(text: string): boolean {
  return SHOWS.test(text);
}
