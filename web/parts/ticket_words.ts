/** The words of the built-in fields of tickets, as new repositories have them. */
export const WORDS = {
  type: ["Code_Defect", "Build_Problem", "Documentation", "Feature_Request", "Incident"],
  status: ["Open", "Verified", "Review", "Deferred", "Fixed", "Tested", "Closed"],
  priority: ["Immediate", "High", "Medium", "Low", "Zero"],
  severity: ["Critical", "Severe", "Important", "Minor", "Cosmetic"],
  resolution: [
    "Open",
    "Fixed",
    "Rejected",
    "Workaround",
    "Unable_To_Reproduce",
    "Works_As_Designed",
    "External_Bug",
    "Not_A_Bug",
    "Duplicate",
    "Overcome_By_Events",
    "Drive_By_Patch",
    "Misconfiguration",
  ],
} as const;

export type WordField = keyof typeof WORDS;

/** A word as people read it: `Code_Defect` is "Code defect". */
export function readable(word: string): string {
  const text = word.replaceAll("_", " ");
  return text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();
}

/**
 * The choices for a field.
 *
 * @param present values that tickets have, which may be unusual
 */
export function choicesOf(
  field: WordField,
  present: readonly string[] = [],
): (readonly [value: string, words: string])[] {
  const words = new Set<string>([...WORDS[field], ...present]);
  words.delete("");
  return Array.from(words, (word) => [word, readable(word)] as const);
}
