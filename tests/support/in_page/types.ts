/** What the checks of a page say; both the page and the test know these types. */

/** The functions that `checks.ts` gives a page. */
export interface PageChecks {
  /** What is wrong with the page as a whole; empty if nothing is. */
  faults(): Promise<string[]>;
  /** How many pixels the page is wider than the window, or something wider than its frame. */
  overflow(): number;
  /** How many pixels the page is wider than the window. */
  pageOverflow(): number;
  /** Opens everything that is folded, and the menu. */
  unfold(): void;
  /** Notes what the page shows now, for {@linkcode differences}. */
  noteShown(): void;
  /** What is now shown, hidden or to scroll, and was not when it was noted: each with its HTML. */
  differences(): string[];
  /** All that decides on the contrast of visible texts, for each text that looks like no other one. */
  looks(): string[];
  /** Lets `axe-core` judge the colors of the texts with these looks. */
  judge(looks: readonly string[]): Promise<Judgement>;
  /** Begins to note what the Tab key reaches; returns the number of elements that it must reach. */
  startFocusWalk(): number;
  /** Whether the walk has come back to an element where it was before. */
  hasWalkedAround(): boolean;
  /** What is wrong with the walk. */
  focusFaults(): string[];
}

/** What `axe-core` says of the colors of texts. */
export interface Judgement {
  /** The rule, and the elements that break it. */
  readonly faults: readonly string[];
  /** The looks of those that pass. */
  readonly passed: readonly string[];
}

/** The functions that `live.ts` gives a page. */
export interface LiveChecks {
  /** Elements and attributes that people's texts must not make, and a script that ran. */
  liveFaults(): string[];
  /** The same for many pages, which are shown in frames at both widths, and what is too wide. */
  liveFaultsOf(paths: readonly string[]): Promise<string[]>;
  /** Those of the texts that the page does not show as they are, but for blanks. */
  missing(texts: readonly string[]): string[];
}
